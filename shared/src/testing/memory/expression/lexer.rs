use crate::testing::memory::refusal::Refusal;

/// Bytes DynamoDB takes in one expression.
const MAX_BYTES: usize = 4096;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A bare word: keyword, function or attribute name.
    Word(String),
    /// `#name`, with its sign.
    Name(String),
    /// `:value`, with its sign.
    Value(String),
    /// A list index.
    Number(String),
    /// Anything else that the language has.
    Sign(&'static str),
}

impl Token {
    /// How the token was written.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Word(text) | Self::Name(text) | Self::Value(text) | Self::Number(text) => text,
            Self::Sign(text) => text,
        }
    }

    /// Whether this is the keyword, in any case.
    pub(super) fn is(&self, keyword: &str) -> bool {
        matches!(self, Self::Word(word) if word.eq_ignore_ascii_case(keyword))
    }
}

/// Longest first, so that `<=` is not read as `<` and `=`.
const SIGNS: &[&str] = &["<>", "<=", ">=", "=", "<", ">", "(", ")", "[", "]", ",", ".", "+", "-"];

pub(super) fn tokens(expression: &str) -> Result<Vec<Token>, Refusal> {
    if expression.len() > MAX_BYTES {
        return Err(Refusal::invalid("expression size has exceeded the maximum allowed size"));
    }
    let mut rest = expression.trim_ascii_start();
    let mut found = Vec::new();
    while let Some(first) = rest.chars().next() {
        let (token, after) = match first {
            '#' | ':' => placeholder(first, rest)?,
            'a'..='z' | 'A'..='Z' => word(rest, Token::Word),
            '0'..='9' => word(rest, Token::Number),
            _ => sign(rest)?,
        };
        if matches!(&token, Token::Number(text) if !text.bytes().all(|byte| byte.is_ascii_digit())) {
            return Err(syntax(token.text()));
        }
        found.push(token);
        rest = after.trim_ascii_start();
    }
    if found.is_empty() {
        return Err(Refusal::invalid("the expression can not be empty"));
    }
    Ok(found)
}

fn word(text: &str, make: fn(String) -> Token) -> (Token, &str) {
    let end = text.find(|other: char| !other.is_ascii_alphanumeric() && other != '_').unwrap_or(text.len());
    let (word, after) = text.split_at(end);
    (make(word.to_owned()), after)
}

fn placeholder(sign: char, text: &str) -> Result<(Token, &str), Refusal> {
    let (token, after) = word(text.trim_start_matches(sign), Token::Word);
    match (sign, token.text()) {
        (_, "") => Err(syntax(&sign.to_string())),
        ('#', name) => Ok((Token::Name(format!("#{name}")), after)),
        (_, name) => Ok((Token::Value(format!(":{name}")), after)),
    }
}

fn sign(text: &str) -> Result<(Token, &str), Refusal> {
    let hit = SIGNS.iter().find_map(|sign| text.strip_prefix(sign).map(|after| (Token::Sign(sign), after)));
    hit.ok_or_else(|| syntax(&text.chars().take(1).collect::<String>()))
}

pub(super) fn syntax(near: &str) -> Refusal {
    Refusal::invalid(format!("syntax error at {near:?}"))
}
