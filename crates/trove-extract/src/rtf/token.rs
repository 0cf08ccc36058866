//! RTF in tokens.

/// A piece of RTF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'c> {
    Open,
    Close,
    /// A word behind a backslash. A byte that is written as two digits is the word `'` with its
    /// number.
    Control {
        word: &'c [u8],
        number: Option<i32>,
    },
    /// One byte of text, which some writer has escaped.
    Byte(u8),
    /// Bytes of text.
    Text(&'c [u8]),
    /// Bytes that are no text.
    Binary,
}

/// The tokens of a document; any bytes have some.
pub(super) struct Tokens<'c> {
    rest: &'c [u8],
}

impl<'c> Tokens<'c> {
    pub(super) fn new(content: &'c [u8]) -> Self {
        Self { rest: content }
    }

    fn take(&mut self, length: usize) -> &'c [u8] {
        let (taken, rest) = self.rest.split_at(length.min(self.rest.len()));
        self.rest = rest;
        taken
    }

    fn take_while(&mut self, belongs: impl Fn(u8) -> bool) -> &'c [u8] {
        let length = self.rest.iter().position(|byte| !belongs(*byte));
        self.take(length.unwrap_or(self.rest.len()))
    }

    fn control(&mut self) -> Option<Token<'c>> {
        let word = self.take_while(|byte| byte.is_ascii_alphabetic());
        if word.is_empty() {
            let symbol = self.take(1);
            return match symbol {
                b"'" => Some(Token::Control { word: symbol, number: hex(self.take(2)) }),
                [b'\n' | b'\r'] => Some(Token::Control { word: b"par", number: None }),
                [] => None,
                symbol => Some(Token::Control { word: symbol, number: None }),
            };
        }
        let negative = self.rest.first() == Some(&b'-');
        if negative {
            self.take(1);
        }
        let digits = self.take_while(|byte| byte.is_ascii_digit());
        let number = digits.iter().fold(None, |number: Option<i32>, digit| {
            let digit = i32::from(digit - b'0');
            Some(number.unwrap_or(0).saturating_mul(10).saturating_add(digit))
        });
        let number = if negative { number.map(i32::wrapping_neg) } else { number };
        if self.rest.first() == Some(&b' ') {
            self.take(1);
        }
        if word == b"bin" {
            let length = number.and_then(|number| usize::try_from(number).ok());
            self.take(length.unwrap_or(0));
            return Some(Token::Binary);
        }
        Some(Token::Control { word, number })
    }
}

fn hex(digits: &[u8]) -> Option<i32> {
    let digits = std::str::from_utf8(digits).ok()?;
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hex.then(|| i32::from_str_radix(digits, 16).ok()).flatten()
}

impl<'c> Iterator for Tokens<'c> {
    type Item = Token<'c>;

    fn next(&mut self) -> Option<Token<'c>> {
        loop {
            match *self.rest.first()? {
                b'{' => {
                    self.take(1);
                    return Some(Token::Open);
                }
                b'}' => {
                    self.take(1);
                    return Some(Token::Close);
                }
                b'\\' => {
                    self.take(1);
                    return self.control();
                }
                // Line ends only make the file readable.
                b'\r' | b'\n' | 0 => {
                    self.take(1);
                }
                b'\t' => {
                    self.take(1);
                    return Some(Token::Byte(b' '));
                }
                _ => {
                    let is_text =
                        |byte| !matches!(byte, b'{' | b'}' | b'\\' | b'\r' | b'\n' | b'\t' | 0);
                    return Some(Token::Text(self.take_while(is_text)));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Token, Tokens};

    fn control(word: &[u8], number: Option<i32>) -> Token<'_> {
        Token::Control { word, number }
    }

    #[test]
    fn any_bytes_have_tokens() {
        let tokens: Vec<_> = Tokens::new(b"{\\rtf1 a\r\nb\\'e4\\u-10179 ?\\~}").collect();
        let expected = [
            Token::Open,
            control(b"rtf", Some(1)),
            Token::Text(b"a"),
            Token::Text(b"b"),
            control(b"'", Some(0xe4)),
            control(b"u", Some(-10179)),
            Token::Text(b"?"),
            control(b"~", None),
            Token::Close,
        ];
        assert_eq!(tokens, expected);
        assert_eq!(Tokens::new(b"\\").count(), 0);
        assert_eq!(Tokens::new(b"\\'").count(), 1);
        assert_eq!(Tokens::new(b"\\a99999999999").last(), Some(control(b"a", Some(i32::MAX))));
    }

    #[test]
    fn binary_data_is_left_out_whatever_length_it_claims() {
        let tokens: Vec<_> = Tokens::new(b"\\bin3 }}}a").collect();
        assert_eq!(tokens, [Token::Binary, Token::Text(b"a")]);
        assert_eq!(Tokens::new(b"\\bin2000000000 abc").collect::<Vec<_>>(), [Token::Binary]);
        assert_eq!(Tokens::new(b"\\bin-1 abc").last(), Some(Token::Text(b"abc")));
    }
}
