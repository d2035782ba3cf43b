/// The words and signs of an expression, one after the other.
#[derive(Debug, Clone)]
pub(super) struct Tokens<'a> {
    rest: &'a str,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { rest: text.trim_start() }
    }

    /// The next token, which stays.
    pub(super) fn peek(&self) -> Option<&'a str> {
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '#' | ':' | '.');
        let first = self.rest.chars().next()?;
        let end = if is_word(first) {
            self.rest.find(|c| !is_word(c))
        } else if ["<=", ">=", "<>"].iter().any(|sign| self.rest.starts_with(sign)) {
            Some(2)
        } else {
            Some(first.len_utf8())
        };
        self.rest.get(..end.unwrap_or(self.rest.len()))
    }

    /// Takes the next token; at the end an empty one, which nothing accepts.
    pub(super) fn take(&mut self) -> &'a str {
        let token = self.peek().unwrap_or_default();
        self.rest = self.rest.get(token.len()..).unwrap_or_default().trim_start();
        token
    }

    /// Takes `word`, in any case, if it is next.
    pub(super) fn accept(&mut self, word: &str) -> bool {
        let is_next = self.peek().is_some_and(|token| token.eq_ignore_ascii_case(word));
        if is_next {
            self.take();
        }
        is_next
    }

    /// Takes `word`, which must be next.
    pub(super) fn expect(&mut self, word: &str) -> Result<(), String> {
        if self.accept(word) { Ok(()) } else { Err(format!("{word:?} expected before {:?}", self.rest)) }
    }
}
