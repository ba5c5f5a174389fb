//! What a URI in a scene may name: data in the URI itself, or a file beside the scene. Nothing else, ever.

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use super::error::{SceneError, quote};

/// Standard base64; padding may be left out, but not be wrong.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Longest relative URI. *Units*: bytes.
const URI_BYTES: usize = 4096;

/// A URI, understood.
#[derive(Debug, PartialEq)]
pub(crate) enum Uri {
    /// A data URI, decoded.
    Data(Vec<u8>),
    /// Path segments relative to the root of the scene's directory or archive, percent-decoded and normalised.
    File(Vec<String>),
}

/// Understands `uri`, which stands in a file that lies in the directory `base` below the root.
pub(crate) fn resolve(what: &str, uri: &str, base: &[String]) -> Result<Uri, SceneError> {
    if uri.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:")) {
        return data(what, &uri[5..]).map(Uri::Data);
    }
    file(what, uri, base).map(Uri::File)
}

/// Decodes what follows `data:`. *Rule*: base64 of any media type is taken, for pictures tell what they are by their
/// first bytes and buffers are only bytes; a URI that is not base64 is refused, as glTF 2.0 (3.6.1.1) asks for it.
fn data(what: &str, rest: &str) -> Result<Vec<u8>, SceneError> {
    let bad = |reason: &str| SceneError::DataUri { what: what.into(), reason: reason.into() };
    let (head, body) = rest.split_once(',').ok_or_else(|| bad("there is no comma before the data"))?;
    if !head.split(';').skip(1).any(|part| part.trim().eq_ignore_ascii_case("base64")) {
        return Err(bad("only base64 is read"));
    }
    let bytes = if body.contains('%') {
        let text = percent_decode(body).ok_or_else(|| bad("percent encoding is broken"))?;
        BASE64.decode(text)
    } else {
        BASE64.decode(body)
    };
    bytes.map_err(|error| bad(&format!("base64: {}", base64_reason(&error))))
}

/// Says what is wrong without repeating the data.
fn base64_reason(error: &base64::DecodeError) -> String {
    match error {
        base64::DecodeError::InvalidByte(at, _) => format!("byte {at} is not of the alphabet"),
        base64::DecodeError::InvalidLength(length) => format!("length {length} is impossible"),
        base64::DecodeError::InvalidLastSymbol(at, _) => format!("last symbol (byte {at}) has stray bits"),
        base64::DecodeError::InvalidPadding => "padding is wrong".into(),
    }
}

/// Percent-decodes once, normalises `.` and `..`, and refuses whatever could leave the root.
fn file(what: &str, uri: &str, base: &[String]) -> Result<Vec<String>, SceneError> {
    let invalid = |reason| SceneError::UriInvalid { what: what.into(), uri: quote(uri), reason };
    let escapes = || SceneError::UriEscapes { what: what.into(), uri: quote(uri) };
    if uri.is_empty() || uri.len() > URI_BYTES {
        return Err(invalid("it is empty or too long"));
    }
    let decoded = percent_decode(uri).ok_or_else(|| invalid("percent encoding is broken"))?;
    let path = String::from_utf8(decoded).map_err(|_| invalid("it is not UTF-8"))?;
    // Judged after decoding, so that no encoding hides a scheme, a slash or a NUL.
    if path.contains(['\\', '\0']) || path.chars().any(char::is_control) {
        return Err(invalid("it has a backslash or a control character"));
    }
    if path.starts_with('/') {
        return Err(escapes());
    }
    let first = path.split('/').next().unwrap_or("");
    if first.contains(':') {
        return Err(SceneError::UriScheme { what: what.into(), uri: quote(uri) });
    }
    let mut segments = base.to_vec();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop().ok_or_else(escapes)?;
            }
            name => segments.push(name.into()),
        }
    }
    if segments.is_empty() || path.ends_with('/') {
        return Err(invalid("it names a directory"));
    }
    Ok(segments)
}

fn percent_decode(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: Option<&u8>| char::from(*byte?).to_digit(16);
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'%' {
            let value = digit(bytes.get(at + 1))? * 16 + digit(bytes.get(at + 2))?;
            out.push(value as u8);
            at += 3;
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    Some(out)
}
