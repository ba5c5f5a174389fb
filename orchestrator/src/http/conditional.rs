//! Validators, freshness and digests of frames.

use axum::http::{HeaderMap, HeaderValue, header};

/// How long an immutable answer may be kept.
const IMMUTABLE: &str = "public, max-age=31536000, immutable";

/// Whether the client has this very file: `If-None-Match` names it (RFC 9110, section 13.1.2).
pub(crate) fn is_known(headers: &HeaderMap, etag: &str) -> bool {
    let values = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    // Our tags hold no comma, so a list may be split at each.
    values.flat_map(|list| list.split(',')).map(str::trim).any(|candidate| {
        // The comparison is the weak one: a weak tag with our digits names the same frame.
        candidate == "*" || candidate.strip_prefix("W/").unwrap_or(candidate) == etag
    })
}

/// Whether the client wants its answer made anew (`Cache-Control: no-cache` or `no-store`).
pub(crate) fn wants_fresh(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::CACHE_CONTROL).iter().filter_map(|value| value.to_str().ok());
    values
        .flat_map(|list| list.split(','))
        .map(str::trim)
        .any(|directive| ["no-cache", "no-store"].iter().any(|known| directive.eq_ignore_ascii_case(known)))
}

/// How long an answer may be kept: for ever where its URL names all that decides it, else as long as it is
/// asked about each time; `kept` is false for what circumstance decided.
pub(crate) fn cache_control(immutable: bool, kept: bool) -> HeaderValue {
    HeaderValue::from_static(match (kept, immutable) {
        (false, _) => "no-store",
        (true, true) => IMMUTABLE,
        (true, false) => "no-cache",
    })
}

/// Whether `Repr-Digest` with SHA-256 is wanted: yes, unless `Want-Repr-Digest` (RFC 9530) does not ask for it.
pub(crate) fn wants_sha256(headers: &HeaderMap) -> bool {
    let mut asked = false;
    for value in headers.get_all("want-repr-digest").iter().filter_map(|value| value.to_str().ok()) {
        for entry in value.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
            asked = true;
            let (name, weight) = entry.split_once('=').unwrap_or((entry, "1"));
            if name.trim() == "sha-256" && weight.trim().parse::<u32>().is_ok_and(|weight| weight > 0) {
                return true;
            }
        }
    }
    !asked
}

/// Whether the client would rather have a job (`Prefer: respond-async`, RFC 7240).
pub(crate) fn prefers_async(headers: &HeaderMap) -> bool {
    let values = headers.get_all("prefer").iter().filter_map(|value| value.to_str().ok());
    values
        .flat_map(|list| list.split(','))
        .filter_map(|preference| preference.split(';').next())
        .any(|preference| preference.trim().eq_ignore_ascii_case("respond-async"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &'static str, values: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(name, value.parse().expect("a header value"));
        }
        headers
    }

    #[test]
    fn if_none_match_compares_lists_and_weak_tags() {
        let check = |values: &[&str], known| {
            assert_eq!(is_known(&headers("if-none-match", values), "\"abc\""), known, "{values:?}");
        };
        check(&[], false);
        check(&["\"abc\""], true);
        check(&["W/\"abc\""], true);
        check(&["\"x\", \"abc\""], true);
        check(&["\"x\"", "\"abc\""], true);
        check(&["*"], true);
        check(&["abc"], false);
        check(&["\"abcd\"", "\"ab\""], false);
    }

    #[test]
    fn digests_are_sent_unless_others_are_asked_for() {
        let check = |values: &[&str], wanted| {
            assert_eq!(wants_sha256(&headers("want-repr-digest", values)), wanted, "{values:?}");
        };
        check(&[], true);
        check(&["sha-256=10"], true);
        check(&["sha-512=3, sha-256=1"], true);
        check(&["sha-256=0"], false);
        check(&["sha-512=3"], false);
        check(&["sha-256=much"], false);
    }

    #[test]
    fn preferences_and_directives_are_found_in_lists() {
        let prefers = |values: &[&str]| prefers_async(&headers("prefer", values));
        assert!(prefers(&["respond-async"]) && prefers(&["wait=10, Respond-Async"]));
        assert!(prefers(&["return=minimal; x=1", "respond-async; y"]));
        assert!(!prefers(&["wait=10"]) && !prefers(&[]));
        let fresh = |values: &[&str]| wants_fresh(&headers("cache-control", values));
        assert!(fresh(&["no-cache"]) && fresh(&["max-age=0, No-Store"]));
        assert!(!fresh(&["max-age=0"]) && !fresh(&[]));
    }

    #[test]
    fn only_what_the_url_pins_is_immutable() {
        assert_eq!(cache_control(true, true), IMMUTABLE);
        assert_eq!(cache_control(false, true), "no-cache");
        assert_eq!(cache_control(true, false), "no-store");
    }
}
