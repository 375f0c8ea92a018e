//! The page's program: a WebAssembly module.

/// The magic number and the version.
const HEAD: usize = 8;
/// A section that no browser runs: names, and who has made the module.
const CUSTOM: u8 = 0;

/// The module without its custom sections. wasm-bindgen names its own functions in one, which nothing reads.
pub(crate) fn bare(module: &[u8]) -> Option<Vec<u8>> {
    let (head, mut rest) = module.split_at_checked(HEAD)?;
    let mut bare = head.to_vec();
    while let Some((&id, after)) = rest.split_first() {
        let (size, body) = number(after)?;
        let (_, next) = body.split_at_checked(size)?;
        if id != CUSTOM {
            bare.extend_from_slice(rest.strip_suffix(next)?);
        }
        rest = next;
    }
    Some(bare)
}

/// A number in LEB128, and what follows it.
fn number(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let last = bytes.iter().take(5).position(|byte| byte & 0x80 == 0)?;
    let (digits, rest) = bytes.split_at_checked(last + 1)?;
    let number = digits
        .iter()
        .rev()
        .fold(0, |sum: usize, byte| sum << 7 | usize::from(byte & 0x7f));
    Some((number, rest))
}

#[cfg(test)]
mod tests {
    use super::bare;

    #[test]
    fn only_custom_sections_go() {
        let section = |id: u8, size: usize| {
            let mut bytes = vec![id, (size & 0x7f) as u8 | 0x80, (size >> 7) as u8];
            bytes.extend(vec![id; size]);
            bytes
        };
        let head = *b"\0asm\x01\0\0\0";
        let parts = [
            section(1, 3),
            section(0, 200),
            section(10, 300),
            section(0, 0),
        ];
        let module = [&head[..], &parts.concat()].concat();
        let kept = [&head[..], &parts[0], &parts[2]].concat();
        assert_eq!(bare(&module), Some(kept));
        for end in [3, 9, module.len() - 4] {
            assert_eq!(bare(&module[..end]), None, "cut at {end}");
        }
    }
}
