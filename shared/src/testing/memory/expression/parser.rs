use aws_sdk_dynamodb::types::AttributeValue;

use super::attributes::Attributes;
use super::lexer::{Token, syntax, tokens};
use super::path::{Path, Step};
use super::reserved::is_reserved;
use crate::testing::memory::refusal::Refusal;

/// Nested parentheses, functions and NOTs the twin follows; it descends recursively.
const MAX_DEPTH: usize = 40;

/// A cursor over one expression, with the placeholders it may refer to.
#[derive(Debug)]
pub(super) struct Parser<'a> {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    pub(super) attributes: &'a mut Attributes,
}

impl<'a> Parser<'a> {
    pub(super) fn new(expression: &str, attributes: &'a mut Attributes) -> Result<Self, Refusal> {
        Ok(Self { tokens: tokens(expression)?, at: 0, depth: 0, attributes })
    }

    pub(super) fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        token
    }

    pub(super) fn take_sign(&mut self, sign: &str) -> bool {
        self.take_if(|token| matches!(token, Token::Sign(found) if *found == sign))
    }

    pub(super) fn take_keyword(&mut self, keyword: &str) -> bool {
        self.take_if(|token| token.is(keyword))
    }

    fn take_if(&mut self, wanted: impl Fn(&Token) -> bool) -> bool {
        let hit = self.peek().is_some_and(wanted);
        self.at += usize::from(hit);
        hit
    }

    /// The first of `signs` that comes next.
    pub(super) fn take_any<'s>(&mut self, signs: &[&'s str]) -> Option<&'s str> {
        signs.iter().copied().find(|sign| self.take_sign(sign))
    }

    pub(super) fn expect_sign(&mut self, sign: &str) -> Result<(), Refusal> {
        if self.take_sign(sign) { Ok(()) } else { Err(self.unexpected()) }
    }

    pub(super) fn unexpected(&self) -> Refusal {
        syntax(self.peek().map_or("<EOF>", Token::text))
    }

    pub(super) fn at_end(&self) -> bool {
        self.at >= self.tokens.len()
    }

    /// The name of the function that is called here; leaves the cursor on it.
    pub(super) fn function(&self) -> Option<String> {
        match (self.peek()?, self.tokens.get(self.at + 1)?) {
            (Token::Word(word), Token::Sign("(")) if !word.eq_ignore_ascii_case("not") => Some(word.clone()),
            _ => None,
        }
    }

    /// Steps over a function's name and its opening parenthesis.
    pub(super) fn open_function(&mut self) {
        self.at += 2;
    }

    /// Whether the parenthesis at the cursor holds nothing but another parenthesis.
    pub(super) fn redundant_parenthesis(&self) -> bool {
        let opens = |at: usize| matches!(self.tokens.get(at), Some(Token::Sign("(")));
        let close = |at: usize| self.closing(at);
        opens(self.at)
            && opens(self.at + 1)
            && close(self.at).zip(close(self.at + 1)).is_some_and(|(outer, inner)| outer == inner + 1)
    }

    fn closing(&self, open: usize) -> Option<usize> {
        let mut depth = 0_usize;
        self.tokens.iter().enumerate().skip(open).find_map(|(at, token)| {
            match token {
                Token::Sign("(") => depth += 1,
                Token::Sign(")") => depth = depth.saturating_sub(1),
                _ => {}
            }
            (depth == 0).then_some(at)
        })
    }

    /// Runs `inner` one level deeper.
    pub(super) fn nested<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        if self.depth >= MAX_DEPTH {
            return Err(Refusal::unsupported(format_args!(
                "an expression nested deeper than {MAX_DEPTH} levels"
            )));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// `:value`, resolved.
    pub(super) fn value(&mut self) -> Result<AttributeValue, Refusal> {
        let Some(Token::Value(placeholder)) = self.peek().cloned() else { return Err(self.unexpected()) };
        self.at += 1;
        self.attributes.value(&placeholder)
    }

    /// A document path, names resolved.
    pub(super) fn path(&mut self) -> Result<Path, Refusal> {
        let root = self.name()?;
        let mut steps = Vec::new();
        loop {
            if self.take_sign(".") {
                steps.push(Step::Field(self.name()?));
            } else if self.take_sign("[") {
                let index = match self.next() {
                    Some(Token::Number(digits)) => digits.parse().map_err(|_| syntax(&digits))?,
                    other => return Err(syntax(other.as_ref().map_or("<EOF>", Token::text))),
                };
                self.expect_sign("]")?;
                steps.push(Step::Index(index));
            } else {
                return Ok(Path { root, steps });
            }
        }
    }

    fn name(&mut self) -> Result<String, Refusal> {
        match self.peek().cloned() {
            Some(Token::Name(placeholder)) => {
                self.at += 1;
                self.attributes.name(&placeholder)
            }
            Some(Token::Word(word)) if is_reserved(&word) => {
                Err(Refusal::invalid(format!("attribute name is a reserved keyword: {word}")))
            }
            Some(Token::Word(word)) => {
                self.at += 1;
                Ok(word)
            }
            _ => Err(self.unexpected()),
        }
    }
}
