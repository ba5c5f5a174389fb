//! XMP packets that carry a receipt, in WebP and JPEG: every decoder keeps or skips them.

const BEFORE: &str = concat!(
    "<?xpacket begin=\"\u{feff}\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>",
    "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\">",
    "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">",
    "<rdf:Description rdf:about=\"\" xmlns:isoframe=\"urn:isoframe:1\"><isoframe:receipt>",
);
const AFTER: &str =
    concat!("</isoframe:receipt></rdf:Description></rdf:RDF></x:xmpmeta>", "<?xpacket end=\"r\"?>",);
const START: &str = "<isoframe:receipt>";
const END: &str = "</isoframe:receipt>";

/// A packet around JSON. JSON escapes control characters, so three escapes make it XML.
pub(super) fn packet(json: &str) -> Vec<u8> {
    let escaped = json.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    [BEFORE, &escaped, AFTER].concat().into_bytes()
}

/// The JSON of a packet; none where the packet is another's.
pub(super) fn json(packet: &[u8]) -> Option<String> {
    let packet = std::str::from_utf8(packet).ok()?;
    let (_, rest) = packet.split_once(START)?;
    let (escaped, _) = rest.split_once(END)?;
    let unescaped = escaped.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    Some(unescaped.replace("&apos;", "'").replace("&amp;", "&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_survives_xml() {
        for text in ["{}", r#"{"a":"<&>\"'\u0000 &amp; </isoframe:receipt> é"}"#, "&lt;&amp;lt;"] {
            assert_eq!(json(&packet(text)).as_deref(), Some(text));
        }
        for foreign in
            [&b""[..], b"<x/>", b"<isoframe:receipt>{}", b"\xff<isoframe:receipt></isoframe:receipt>"]
        {
            assert_eq!(json(foreign), None);
        }
    }
}
