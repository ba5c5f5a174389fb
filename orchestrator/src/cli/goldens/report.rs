//! The report: one page of HTML that holds its pictures, and fetches nothing.

use std::fmt::Write as _;
use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use isoframe_raster::frame::ENGINE;

use super::super::exit::Failure;
use super::case::Folder;
use super::{Outcome, Rendered, difference};

const HEAD: &str = r#"<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Isoframe goldens</title>
<style>
:root { color-scheme: light dark; --line: #8884; --bad: #c62828; --good: #2e7d32 }
@media (prefers-color-scheme: dark) { :root { --bad: #ff8a80; --good: #a5d6a7 } }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 80rem; padding: 0 1rem }
section { border-top: 1px solid var(--line); padding: 1rem 0 }
h2 { margin: 0; font-size: 1.15rem }
.same { color: var(--good) } .differs, .missing, .other_engine { color: var(--bad) }
.pictures { display: flex; flex-wrap: wrap; gap: 1rem } figure { margin: 0 } figcaption { font-size: .85rem }
img { image-rendering: pixelated; max-width: 24rem; min-width: 12rem; border: 1px solid var(--line);
  background: repeating-conic-gradient(#8883 0 25%, #0000 0 50%) 0 0 / 16px 16px }
code { font-size: .8rem }
</style></head><body>
"#;

/// A page in the making.
#[derive(Debug)]
pub(crate) struct Page {
    body: String,
    case_count: usize,
    same_count: usize,
}

impl Page {
    /// An empty page.
    pub(crate) fn new() -> Page {
        Page { body: String::new(), case_count: 0, same_count: 0 }
    }

    /// Adds a case: pictures of what differs, or of the first output where nothing does.
    pub(crate) fn case(
        &mut self,
        folder: &Folder,
        outcome: &Outcome,
        rendered: &Rendered,
    ) -> Result<(), Failure> {
        self.case_count += 1;
        self.same_count += usize::from(outcome.verdict == "same");
        let _ = write!(
            self.body,
            "<section><h2>{} <span class=\"{}\">{}</span></h2><p>{} <code>{}</code></p>",
            escape(&outcome.case),
            outcome.verdict,
            outcome.verdict.replace('_', " "),
            escape(&outcome.about),
            escape(&outcome.backend)
        );
        for (index, (output, actual)) in rendered.pictures.iter().enumerate() {
            let differs = outcome.differing.iter().any(|name| name == output.name());
            if !differs && index > 0 && outcome.verdict == "same" {
                continue;
            }
            let _ = write!(self.body, "<div class=\"pictures\">");
            let expected = fs::read(folder.picture(output.name())).ok();
            if let Some(expected) = &expected {
                self.figure(output.name(), "expected", expected);
            }
            self.figure(output.name(), "actual", actual);
            if let Some(expected) = expected.filter(|_| outcome.verdict != "same") {
                let difference = difference::of(&expected, actual)?;
                let caption = match difference.pixel_count {
                    0 => "difference: below what 8 bit can show".to_owned(),
                    count => format!("difference: {count} pixels, at most {} of 255", difference.largest),
                };
                self.figure(output.name(), &caption, &difference.png);
            }
            let _ = write!(self.body, "</div>");
        }
        self.body.push_str("</section>\n");
        Ok(())
    }

    fn figure(&mut self, output: &str, caption: &str, png: &[u8]) {
        let _ = write!(
            self.body,
            "<figure><img alt=\"{output}, {caption}\" src=\"data:image/png;base64,{}\"><figcaption>{output}: {caption}</figcaption></figure>",
            STANDARD.encode(png)
        );
    }

    /// The page.
    pub(crate) fn finish(self) -> String {
        format!(
            "{HEAD}<h1>Goldens</h1><p>{} of {} are the same, bit for bit. Engine <code>{ENGINE}</code>.</p>\n{}</body></html>\n",
            self.same_count, self.case_count, self.body
        )
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
