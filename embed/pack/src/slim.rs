//! Scripts without what only their readers need: comments that have lines of their own, and the space before a line.

pub(crate) fn slim(script: &str) -> String {
    let mut slim = String::new();
    let mut is_comment = false;
    for line in script.lines().map(str::trim) {
        is_comment |= line.starts_with("/*");
        if !is_comment && !line.is_empty() && !line.starts_with("//") {
            slim.push_str(line);
            slim.push('\n');
        }
        is_comment &= !line.ends_with("*/");
    }
    slim
}

#[cfg(test)]
mod tests {
    use super::slim;

    #[test]
    fn comments_and_space_go() {
        let script = "// One\n/** Two. */\n/**\n * Three\n */\nlet a = 1; // four\n\n  /* five\n */\n  const url = '//six';\n";
        assert_eq!(slim(script), "let a = 1; // four\nconst url = '//six';\n");
    }
}
