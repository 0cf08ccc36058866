//! The variable parts of a path.

use actix_web::HttpRequest;

/// The parts, by name, percent-decoded exactly once.
///
/// Taken from the path as it was sent: what actix hands out is decoded in two steps, which makes
/// two ids of some malformed ones.
pub(super) fn parameters(request: &HttpRequest) -> impl Iterator<Item = (String, String)> {
    let pattern = request.match_pattern().unwrap_or_default();
    // A variable part never spans a slash, so the segments of pattern and path go together.
    let segments = pattern.split('/').zip(request.uri().path().split('/'));
    let parameters: Vec<(String, String)> = segments
        .filter_map(|(name, value)| {
            let name = name.strip_prefix('{')?.strip_suffix('}')?;
            Some((name.to_owned(), decode(value)))
        })
        .collect();
    parameters.into_iter()
}

/// Replaces `%` and two hexadecimal digits by the byte they stand for. Bytes that are no UTF-8
/// become the replacement character, which no stored name holds.
fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let byte = match (first, tail) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)).map(|(h, l)| h << 4 | l),
            _ => None,
        };
        bytes.push(byte.unwrap_or(first));
        rest = if byte.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn a_part_is_decoded_once() {
        let check = |sent: &str, meant: &str| assert_eq!(decode(sent), meant, "{sent}");
        check("team%252Fa_b", "team%2Fa_b");
        check("a%20b+c", "a b+c");
        check("%C3%bc", "ü");
        check("%ff", "\u{fffd}");
        check("%", "%");
        check("%4", "%4");
        check("%zz%41", "%zzA");
        // In two steps this would be `D1`.
        check("%%3441", "%441");
    }
}
