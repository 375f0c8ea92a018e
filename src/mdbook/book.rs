//! mdBook's protocol: the book arrives as JSON, and leaves with our blocks replaced.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

use deltascope_presentation::command::SvgOptions;
use deltascope_presentation::{stage, svg};
use deltascope_terminal::{self as terminal, Form};

use super::block::{Block, Folder, Wrong};
use super::config::{Config, NAME};
use super::fence::{Fence, fences};
use super::html::{Poster, figure, loader, markdown};
use super::{Failure, Problem, chapter, output, print, report, shown};
use super::{lesson, lists};

/// The folder of the pictures, below that of the sources.
const POSTERS: &str = "deltascope/posters";
/// Lists the pictures that this program has written.
const MANIFEST: &str = "posters.json";
/// The width of the pictures in px: that of mdBook's text.
const WIDTH: u32 = 750;
/// The same on a phone, whose screen is 390 px wide.
const NARROW: u32 = 390 - MARGINS as u32;
/// What mdBook leaves beside its text on a narrow screen.
const MARGINS: i32 = 40;
/// The left and the right border of an element.
const BORDERS: i32 = 2;
/// The widest screen of a phone, for pictures that are alike at both widths.
const PHONE: i32 = 480;

/// The state of a build.
struct Build {
    config: Config,
    /// The folder of the sources.
    src: PathBuf,
    /// Whether the renderer is mdBook's own, which passes HTML through.
    is_html: bool,
    problems: Vec<Problem>,
    /// Headings that lessons name, and that are not there.
    unplaced: Vec<Problem>,
    posters: Vec<(String, Vec<u8>)>,
    blocks: usize,
}

/// Reads a book from `from`, and writes the result to stdout.
pub(super) fn preprocess(from: &mut dyn Read) -> Result<(), Failure> {
    let mut text = String::new();
    from.read_to_string(&mut text)
        .map_err(|error| Failure::new(format!("The book cannot be read: {error}.")))?;
    let pair: Result<(Value, Value), _> = serde_json::from_str(&text);
    let (context, mut book) = pair.map_err(|error| {
        Failure::new(format!(
            "This is no book of mdBook's: {error}. mdBook calls this program by itself; see mdbook-deltascope --help."
        ))
    })?;
    let version = context.get("mdbook_version").and_then(Value::as_str);
    let Some(items) = book.get_mut("items").and_then(Value::as_array_mut) else {
        return Err(Failure::new(format!(
            "This is a book of mdBook {}; 0.5 is needed.",
            version.unwrap_or("of an unknown version")
        )));
    };
    let mut build = Build::of(&context)?;
    build.items(items);
    if !build.problems.is_empty() {
        return Err(Failure::new(format!(
            "{}\n{} of {} blocks of this book do not hold; it is not built.",
            report(&build.problems),
            build.count_wrong(),
            build.blocks
        )));
    }
    if !build.unplaced.is_empty() {
        return Err(Failure::new(report(&build.unplaced)));
    }
    let folder = build.src.join(POSTERS);
    output::put(&folder, MANIFEST, &build.posters).map_err(|error| {
        Failure::new(format!(
            "The pictures cannot be written to {}: {error}.",
            folder.display()
        ))
    })?;
    build.warn();
    print(Form::Json, &book.to_string())
}

impl Build {
    fn of(context: &Value) -> Result<Self, Failure> {
        let text = |name: &str| {
            context
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or_default()
        };
        let root = PathBuf::from(text("root"));
        let book = context.get("config").unwrap_or(&Value::Null);
        let config = Config::read(book).map_err(|wrong| {
            let path = root.join("book.toml");
            Failure::new(report(&super::config::problems(&path, &wrong)))
        })?;
        Ok(Self {
            src: root.join(&config.src),
            config,
            is_html: text("renderer") == "html",
            problems: Vec::new(),
            unplaced: Vec::new(),
            posters: Vec::new(),
            blocks: 0,
        })
    }

    /// The number of blocks with problems.
    fn count_wrong(&self) -> usize {
        let mut blocks: Vec<(&str, usize)> = self
            .problems
            .iter()
            .map(|problem| (&*problem.file, problem.block))
            .collect();
        blocks.sort_unstable();
        blocks.dedup();
        blocks.len()
    }

    fn items(&mut self, items: &mut [Value]) {
        for item in items {
            let Some(chapter) = item.get_mut("Chapter") else {
                continue;
            };
            self.chapter(chapter);
            if let Some(items) = chapter.get_mut("sub_items").and_then(Value::as_array_mut) {
                self.items(items);
            }
        }
    }

    fn chapter(&mut self, chapter: &mut Value) {
        let text = |name: &str| chapter.get(name).and_then(Value::as_str);
        let (Some(content), Some(path)) = (text("content"), text("path")) else {
            // A draft chapter.
            return;
        };
        let is_own = self.config.lessons;
        let content = match is_own {
            true => &lists::printed(content, self.config.lang()),
            false => content,
        };
        let found = fences(content);
        if found.is_empty() && !is_own {
            return;
        }
        let page = self.page(path);
        let source = Source::of(&self.src, text("source_path").unwrap_or(path));
        let depth = parts(path).count().saturating_sub(1);
        let up = "../".repeat(depth);
        let assets = from_chapter(&self.config.assets, &up);
        let mut out = String::new();
        let mut written = 0;
        for (place, fence) in found.iter().enumerate() {
            self.blocks += 1;
            let folder = Folder {
                path: &source.folder,
                depth: Some(depth),
            };
            let mut block = match Block::run(fence, &self.config.defaults, folder) {
                Ok(block) => block,
                Err(wrong) => {
                    let wrong = wrong.into_iter();
                    self.problems
                        .extend(wrong.map(|wrong| source.problem(&found, place, wrong)));
                    continue;
                }
            };
            let poster = self.poster(&mut block, path, place, &up);
            let link = page.clone().zip(block.link());
            let link = link.map(|(page, link)| page + &link);
            out.push_str(content.get(written..fence.range.start).unwrap_or_default());
            let instead = if self.is_html {
                let loader = if place == 0 {
                    loader(&assets)
                } else {
                    String::new()
                };
                loader + &figure(&mut block, &poster, link.as_deref())
            } else {
                markdown(&mut block, &poster, link.as_deref())
            };
            out.push_str(
                instead
                    .trim_end()
                    .replace('\n', &format!("\n{}", fence.prefix))
                    .as_str(),
            );
            written = fence.range.end;
            out.push_str(&after(content, fence));
        }
        out.push_str(content.get(written..).unwrap_or_default());
        if let Some(page) = page.filter(|_| is_own && self.is_html) {
            match lesson::linked(&out, path, &page, self.config.lang()) {
                Ok(linked) => out = linked,
                Err(wrong) => self
                    .unplaced
                    .extend(wrong.into_iter().map(|message| Problem {
                        file: source.name.clone(),
                        line: 1,
                        block: 0,
                        message,
                    })),
            }
        }
        if let Some(content) = chapter.get_mut("content") {
            *content = Value::from(out);
        }
    }

    /// The page's address from a chapter. Only a whole one helps outside of a built site.
    fn page(&self, path: &str) -> Option<String> {
        let page = self.config.page.as_deref()?;
        let up = "../".repeat(parts(path).count().saturating_sub(1));
        (self.is_html || page.contains("://")).then(|| from_chapter(page, &up))
    }

    /// The pictures of a block, in the element's place. Every renderer has the same: they share a folder.
    fn poster(&mut self, block: &mut Block, path: &str, place: usize, up: &str) -> Poster {
        let view = block.view();
        let options = &block.options;
        let drawn = SvgOptions {
            panels: options.panels.clone(),
            // In HTML the page chooses the theme. Paper is light.
            theme: options.theme.filter(|_| !self.is_html),
            lang: options.lang.unwrap_or_default(),
            width: WIDTH,
            strip: true,
        };
        let stem = path.strip_suffix(".md").unwrap_or(path);
        let stem: String = stem
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        let stem = format!("{stem}-{}", place + 1);
        let framed = |width: u32| {
            let drawn = SvgOptions {
                width,
                ..drawn.clone()
            };
            svg::poster(&view, &drawn, options.controls, options.height)
        };
        let mut poster = self.keep(&stem, up, framed(WIDTH));
        // The element shows one room at a time where it is narrower than this.
        let least = stage::least_width(&options.panels) + BORDERS;
        let most = match (NARROW as i32) < least && least <= WIDTH as i32 {
            true => least - 1 + MARGINS,
            false => PHONE,
        };
        let narrow = self.keep(&format!("{stem}-narrow"), up, framed(NARROW));
        poster.narrow = Some((Box::new(narrow), most));
        poster
    }

    /// Keeps a picture for the book.
    fn keep(&mut self, stem: &str, up: &str, drawn: (String, (i32, i32))) -> Poster {
        let (picture, size) = drawn;
        let name = format!("{stem}-{}.svg", output::digest(picture.as_bytes()));
        let poster = Poster {
            address: format!("{up}{POSTERS}/{name}"),
            size,
            narrow: None,
        };
        self.posters.push((name, picture.into_bytes()));
        poster
    }

    fn warn(&self) {
        let is_local = !self.config.assets.contains("://") && !self.config.assets.starts_with('/');
        let module = self.src.join(&self.config.assets).join("deltascope.js");
        if !self.is_html || self.blocks == 0 || !is_local {
            return;
        }
        let wrong = match fs::read_to_string(&module) {
            Err(_) => "is missing, so readers will see pictures that do not move",
            Ok(text) if !text.contains(&format!("version = \"{}\"", env!("CARGO_PKG_VERSION"))) => {
                "is of another version than this preprocessor, and what it makes may not be shown as it should be"
            }
            Ok(_) => return,
        };
        terminal::note(&format!(
            "{} {wrong}. Run: mdbook-{NAME} install",
            module.display()
        ));
    }
}

/// The text between a block's replacement and what follows: HTML extends to the next blank line.
fn after(content: &str, fence: &Fence) -> String {
    let rest = content.get(fence.range.end..).unwrap_or_default();
    let mut lines = rest.split_inclusive('\n').skip(1);
    let next = lines.next().unwrap_or_default();
    let prefix = &fence.prefix;
    let is_quote = prefix.contains('>');
    let mark = if is_quote { prefix.trim_end() } else { prefix };
    // A blank line ends the HTML by itself, and so does the end of its container.
    let rest = next.strip_prefix(mark).unwrap_or_default();
    if rest.trim().is_empty() {
        return String::new();
    }
    format!("\n{}", fence.prefix.trim_end())
}

/// An address of the book's from one of its chapters; `up` leads from there to the book.
fn from_chapter(address: &str, up: &str) -> String {
    if address.contains("://") || address.starts_with('/') {
        return address.to_owned();
    }
    format!("{up}{address}")
}

/// The parts of a path in a book, with either separator.
fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split(['/', '\\']).filter(|part| !part.is_empty())
}

/// A chapter's file. mdBook's text of the chapter differs where it includes other files.
struct Source {
    /// The path as in messages.
    name: String,
    folder: PathBuf,
    /// The blocks in the file.
    fences: Vec<Fence>,
}

impl Source {
    fn of(src: &Path, path: &str) -> Self {
        let file = parts(path).fold(src.to_owned(), |folder, part| folder.join(part));
        let text = chapter(&file).unwrap_or_default();
        Self {
            name: shown(&file),
            folder: file.parent().unwrap_or(src).to_owned(),
            fences: fences(&text),
        }
    }

    /// Finds the line of the problem in the chapter's file.
    fn problem(&self, found: &[Fence], place: usize, wrong: Wrong) -> Problem {
        let mut line = wrong.line;
        if let Some(fence) = found.get(place) {
            // Among equal blocks, take the one with the same index.
            let alike = |one: &&Fence| one.info == fence.info && one.body == fence.body;
            let number = found.iter().take(place).filter(alike).count();
            let alike_info = |one: &&Fence| one.info == fence.info;
            let there = self.fences.iter().filter(alike).nth(number);
            line = match there {
                Some(there) => there.line + wrong.line.saturating_sub(fence.line),
                // The body was included from another file, so report the line of the fence.
                None => self
                    .fences
                    .iter()
                    .find(alike_info)
                    .map_or(wrong.line, |there| there.line),
            };
        }
        Problem {
            file: self.name.clone(),
            line,
            block: place,
            message: wrong.message,
        }
    }
}
