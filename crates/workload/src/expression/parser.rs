//! Parses expressions. Constant parts are evaluated at once, so that errors appear before the load.

use std::collections::BTreeMap;

use super::diagnostic::Diagnostic;
use super::evaluation::{Cell, Expression, Operator, Variables};
use super::function::Function;
use super::token::{Token, tokens};
use crate::random::Random;

/// The names of variables and their values or slots.
pub(crate) type Scope = BTreeMap<String, Expression>;

/// Parses an expression that may use the variables of `scope`.
///
/// # Errors
/// Syntax errors, unknown names with the nearest known name, constants that cannot be evaluated.
pub(crate) fn parse(text: &str, scope: &Scope, line: usize) -> Result<Expression, Diagnostic> {
    let tokens = tokens(text, line)?;
    if tokens.len() > LONGEST {
        let help = format!("it may have {LONGEST} words and signs");
        return Err(Diagnostic::new(line, "the expression is too long", help));
    }
    let mut parser = Parser { tokens: &tokens, scope, line, depth: 0 };
    let expression = parser.sum()?;
    match parser.tokens.first() {
        None => Ok(expression),
        Some(extra) => {
            Err(parser.diagnostic(format!("{} after the expression", show(extra)), "leave it out"))
        }
    }
}

/// The most words of an expression.
const LONGEST: usize = 1000;
/// The most nested brackets and signs.
const DEEPEST: usize = 100;

struct Parser<'a> {
    tokens: &'a [Token],
    scope: &'a Scope,
    line: usize,
    depth: usize,
}

fn show(token: &Token) -> String {
    match token {
        Token::Int(number) => format!("`{number}`"),
        Token::Float(number) => format!("`{number}`"),
        Token::Text(text) => format!("`'{text}'`"),
        Token::Name(name) => format!("`{name}`"),
        Token::Variable(name) => format!("`:{name}`"),
        Token::Sign(sign) => format!("`{sign}`"),
    }
}

impl Parser<'_> {
    fn diagnostic(&self, message: impl Into<String>, help: impl Into<String>) -> Diagnostic {
        Diagnostic::new(self.line, message, help)
    }

    fn take_sign(&mut self, signs: &[char]) -> Option<char> {
        let Some(Token::Sign(sign)) = self.tokens.first() else { return None };
        if !signs.contains(sign) {
            return None;
        }
        self.tokens = &self.tokens[1..];
        Some(*sign)
    }

    fn expect(&mut self, sign: char) -> Result<(), Diagnostic> {
        if self.take_sign(&[sign]).is_some() {
            return Ok(());
        }
        let seen = self.tokens.first().map_or("the end".to_owned(), show);
        Err(self.diagnostic(format!("{seen} where `{sign}` belongs"), format!("write `{sign}`")))
    }

    fn sum(&mut self) -> Result<Expression, Diagnostic> {
        let mut left = self.product()?;
        while let Some(sign) = self.take_sign(&['+', '-']) {
            let operator = if sign == '+' { Operator::Add } else { Operator::Subtract };
            let right = self.product()?;
            left = self.fold(Expression::Binary(operator, left.into(), right.into()))?;
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Expression, Diagnostic> {
        let mut left = self.signed()?;
        while let Some(sign) = self.take_sign(&['*', '/', '%']) {
            let operator = match sign {
                '*' => Operator::Multiply,
                '/' => Operator::Divide,
                _ => Operator::Remainder,
            };
            let right = self.signed()?;
            left = self.fold(Expression::Binary(operator, left.into(), right.into()))?;
        }
        Ok(left)
    }

    fn signed(&mut self) -> Result<Expression, Diagnostic> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let help = format!("it may have {DEEPEST} levels");
            return Err(self.diagnostic("the expression is nested too deeply", help));
        }
        let expression = match self.take_sign(&['+', '-']) {
            Some('-') => {
                let inner = self.signed()?;
                self.fold(Expression::Negative(inner.into()))
            }
            Some(_) => self.signed(),
            None => self.operand(),
        };
        self.depth -= 1;
        expression
    }

    fn operand(&mut self) -> Result<Expression, Diagnostic> {
        let Some((token, rest)) = self.tokens.split_first() else {
            return Err(self.diagnostic("the expression ends too early", "a number belongs here"));
        };
        self.tokens = rest;
        match token {
            Token::Int(number) => Ok(Expression::Constant(Cell::Int(*number))),
            Token::Float(number) => Ok(Expression::Constant(Cell::Float(*number))),
            Token::Text(text) => Ok(Expression::Constant(Cell::Text(text.clone()))),
            Token::Variable(name) => self.variable(name),
            Token::Name(name) => self.call(name),
            Token::Sign('(') => {
                let inner = self.sum()?;
                self.expect(')')?;
                Ok(inner)
            }
            Token::Sign(_) => {
                Err(self.diagnostic(format!("unexpected {}", show(token)), "a number belongs here"))
            }
        }
    }

    fn variable(&self, name: &str) -> Result<Expression, Diagnostic> {
        find(self.scope, name, self.line)
    }

    fn call(&mut self, name: &str) -> Result<Expression, Diagnostic> {
        let Some(function) = Function::of(name) else {
            if self.scope.contains_key(name) {
                let help = format!("write :{name}");
                return Err(self.diagnostic(format!("`{name}` is a variable"), help));
            }
            let unknown = || Diagnostic::unknown(self.line, "function", name, &Function::names());
            return Err(self.other_value(name).unwrap_or_else(unknown));
        };
        self.expect('(')?;
        let mut arguments = vec![self.sum()?];
        while self.take_sign(&[',']).is_some() {
            arguments.push(self.sum()?);
        }
        self.expect(')')?;
        let (allowed, form) = function.arguments();
        if !allowed.contains(&arguments.len()) {
            let message =
                format!("{} does not take {} arguments", function.name(), arguments.len());
            return Err(self.diagnostic(message, format!("write {}{form}", function.name())));
        }
        self.fold_call(function, arguments)
    }

    /// The error for a word that is a value or an operator of pgbench's expressions, but not of dyno's.
    fn other_value(&self, name: &str) -> Option<Diagnostic> {
        let help = match name.to_ascii_lowercase().as_str() {
            "true" => "write 1",
            "false" => "write 0",
            "null" => "write NULL into the statement itself",
            "case" => "write a \\transaction for each case: they are drawn by their weights",
            _ => return None,
        };
        Some(self.diagnostic(format!("`{name}` in an expression of numbers and texts"), help))
    }

    fn fold_call(
        &self,
        function: Function,
        arguments: Vec<Expression>,
    ) -> Result<Expression, Diagnostic> {
        let constants: Option<Vec<Cell>> = arguments.iter().map(constant).collect();
        if function == Function::Template {
            return match constants.as_deref() {
                Some([Cell::Text(pattern)]) => Ok(Expression::Template(pattern.clone())),
                _ => Err(self.diagnostic(
                    "template takes one text in quotes",
                    "write template('###-@@@'), # for digits and @ for letters",
                )),
            };
        }
        match constants.and_then(|constants| function.draw(&constants)) {
            Some(Ok(draw)) => Ok(Expression::Draw(draw)),
            Some(Err(message)) => Err(self.diagnostic(message, "see docs/sql-workloads.md")),
            None => self.fold(Expression::Call(function, arguments)),
        }
    }

    /// Evaluates an expression if all of its operands are constants.
    fn fold(&self, expression: Expression) -> Result<Expression, Diagnostic> {
        let is_constant = match &expression {
            Expression::Negative(inner) => constant(inner).is_some(),
            Expression::Binary(_, left, right) => {
                constant(left).is_some() && constant(right).is_some()
            }
            Expression::Call(function, arguments) => {
                !function.is_random() && arguments.iter().all(|one| constant(one).is_some())
            }
            _ => false,
        };
        if !is_constant {
            return Ok(expression);
        }
        let mut memory = Variables { slots: Vec::new(), random: Random::new(0) };
        memory
            .compute(&expression)
            .map(Expression::Constant)
            .map_err(|message| self.diagnostic(message, "correct the expression"))
    }
}

fn constant(expression: &Expression) -> Option<Cell> {
    match expression {
        Expression::Constant(cell) => Some(cell.clone()),
        _ => None,
    }
}

/// The value or slot of a variable.
///
/// # Errors
/// If it was not set before; the error has the nearest known name.
pub(crate) fn find(scope: &Scope, name: &str, line: usize) -> Result<Expression, Diagnostic> {
    scope.get(name).cloned().ok_or_else(|| {
        let known: Vec<&str> = scope.keys().map(String::as_str).collect();
        let mut diagnostic = Diagnostic::unknown(line, "variable", name, &known);
        diagnostic.message = format!("variable `{name}` is not set before it is used");
        if plan::nearest(name, &known).is_none() {
            let ways = format!("set it above by \\set {name}, or give it by --define {name}=VALUE");
            diagnostic.help = format!("{ways} or `variables` in a plan; {}", diagnostic.help);
        }
        diagnostic
    })
}
