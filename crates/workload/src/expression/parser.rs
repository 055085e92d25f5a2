//! Parses expressions. Constant parts are evaluated at once, so that errors appear before the load.

use std::collections::BTreeMap;

use super::cell::Cell;
use super::diagnostic::Diagnostic;
use super::evaluation::{Expression, Variables};
use super::function::Function;
use super::operator::Operator;
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
    let expression = parser.expression()?;
    match parser.tokens.first() {
        None => Ok(expression),
        Some(extra) => {
            Err(parser.diagnostic(format!("{} after the expression", show(extra)), "leave it out"))
        }
    }
}

/// The variable with the seed of hashes that have none of their own.
pub(crate) const DEFAULT_SEED: &str = "default_seed";
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

    /// Takes the next sign if it is one of these; returns its place among them.
    fn take_sign(&mut self, signs: &[&str]) -> Option<usize> {
        let Some(Token::Sign(sign)) = self.tokens.first() else { return None };
        let place = signs.iter().position(|one| one == sign)?;
        self.tokens = &self.tokens[1..];
        Some(place)
    }

    /// Takes the next token if it is this word, in upper or lower case.
    fn take_word(&mut self, word: &str) -> bool {
        let is_next = matches!(self.tokens.first(), Some(Token::Name(name)) if name.eq_ignore_ascii_case(word));
        if is_next {
            self.tokens = &self.tokens[1..];
        }
        is_next
    }

    fn expect(&mut self, sign: &str) -> Result<(), Diagnostic> {
        match self.take_sign(&[sign]) {
            Some(_) => Ok(()),
            None => Err(self.missing(sign)),
        }
    }

    fn expect_word(&mut self, word: &str) -> Result<(), Diagnostic> {
        if self.take_word(word) { Ok(()) } else { Err(self.missing(word)) }
    }

    fn missing(&self, wanted: &str) -> Diagnostic {
        let seen = self.tokens.first().map_or("the end".to_owned(), show);
        self.diagnostic(format!("{seen} where `{wanted}` belongs"), format!("write `{wanted}`"))
    }

    /// Goes a level deeper, if that is allowed.
    fn nested(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<Expression, Diagnostic>,
    ) -> Result<Expression, Diagnostic> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let help = format!("it may have {DEEPEST} levels");
            return Err(self.diagnostic("the expression is nested too deeply", help));
        }
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    /// A whole expression. The levels of operators are those of pgbench: OR, AND, NOT, IS, comparisons, bits, sums,
    /// products, signs.
    fn expression(&mut self) -> Result<Expression, Diagnostic> {
        let mut left = self.conjunction()?;
        while self.take_word("or") {
            let right = self.conjunction()?;
            left = self.binary(Operator::Or, left, right)?;
        }
        Ok(left)
    }

    fn conjunction(&mut self) -> Result<Expression, Diagnostic> {
        let mut left = self.negation()?;
        while self.take_word("and") {
            let right = self.negation()?;
            left = self.binary(Operator::And, left, right)?;
        }
        Ok(left)
    }

    fn negation(&mut self) -> Result<Expression, Diagnostic> {
        if self.take_word("not") {
            let inner = self.nested(Self::negation)?;
            return self.fold(Expression::Not(inner.into()));
        }
        self.identity()
    }

    /// `a IS [NOT] NULL, TRUE or FALSE`, `a ISNULL`, `a NOTNULL`
    fn identity(&mut self) -> Result<Expression, Diagnostic> {
        let left = self.comparison()?;
        let (is_not, constant) = if self.take_word("isnull") {
            (false, Cell::Null)
        } else if self.take_word("notnull") {
            (true, Cell::Null)
        } else if self.take_word("is") {
            let is_not = self.take_word("not");
            let words =
                [("null", Cell::Null), ("true", Cell::Bool(true)), ("false", Cell::Bool(false))];
            let word = words.into_iter().find(|(word, _)| self.take_word(word));
            (is_not, word.ok_or_else(|| self.missing("NULL, TRUE or FALSE"))?.1)
        } else {
            return Ok(left);
        };
        let is = self.binary(Operator::Is, left, Expression::Constant(constant))?;
        if is_not { self.fold(Expression::Not(is.into())) } else { Ok(is) }
    }

    fn comparison(&mut self) -> Result<Expression, Diagnostic> {
        const SIGNS: [&str; 7] = ["=", "<>", "!=", "<", "<=", ">", ">="];
        let left = self.bits()?;
        let Some(place) = self.take_sign(&SIGNS) else { return Ok(left) };
        let right = self.bits()?;
        match SIGNS[place] {
            "=" => self.binary(Operator::Equal, left, right),
            "<" => self.binary(Operator::Less, left, right),
            "<=" => self.binary(Operator::LessOrEqual, left, right),
            ">" => self.binary(Operator::Less, right, left),
            ">=" => self.binary(Operator::LessOrEqual, right, left),
            _ => self.binary(Operator::NotEqual, left, right),
        }
    }

    fn bits(&mut self) -> Result<Expression, Diagnostic> {
        const OPERATORS: [Operator; 5] = [
            Operator::BitOr,
            Operator::BitXor,
            Operator::BitAnd,
            Operator::ShiftLeft,
            Operator::ShiftRight,
        ];
        let mut left = self.sum()?;
        while let Some(place) = self.take_sign(&["|", "#", "&", "<<", ">>"]) {
            let right = self.sum()?;
            left = self.binary(OPERATORS[place], left, right)?;
        }
        Ok(left)
    }

    fn binary(
        &self,
        operator: Operator,
        left: Expression,
        right: Expression,
    ) -> Result<Expression, Diagnostic> {
        self.fold(Expression::Binary(operator, left.into(), right.into()))
    }

    fn sum(&mut self) -> Result<Expression, Diagnostic> {
        const OPERATORS: [Operator; 2] = [Operator::Add, Operator::Subtract];
        let mut left = self.product()?;
        while let Some(place) = self.take_sign(&["+", "-"]) {
            let right = self.product()?;
            left = self.binary(OPERATORS[place], left, right)?;
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Expression, Diagnostic> {
        const OPERATORS: [Operator; 3] =
            [Operator::Multiply, Operator::Divide, Operator::Remainder];
        let mut left = self.signed()?;
        while let Some(place) = self.take_sign(&["*", "/", "%"]) {
            let right = self.signed()?;
            left = self.binary(OPERATORS[place], left, right)?;
        }
        Ok(left)
    }

    fn signed(&mut self) -> Result<Expression, Diagnostic> {
        self.nested(|parser| match parser.take_sign(&["-", "+"]) {
            Some(0) => {
                let inner = parser.signed()?;
                parser.fold(Expression::Negative(inner.into()))
            }
            Some(_) => parser.signed(),
            None => parser.operand(),
        })
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
            Token::Name(name) => self.word(name),
            Token::Sign("(") => {
                let inner = self.expression()?;
                self.expect(")")?;
                Ok(inner)
            }
            // All bits are the others. It binds less than a sum, as in pgbench: `~1 + 2` is -4.
            Token::Sign("~") => {
                let inner = self.nested(Self::sum)?;
                self.binary(Operator::BitXor, inner, Expression::Constant(Cell::Int(-1)))
            }
            Token::Sign(_) => {
                Err(self.diagnostic(format!("unexpected {}", show(token)), "a number belongs here"))
            }
        }
    }

    fn variable(&self, name: &str) -> Result<Expression, Diagnostic> {
        find(self.scope, name, self.line)
    }

    /// A constant, CASE, or the call of a function.
    fn word(&mut self, name: &str) -> Result<Expression, Diagnostic> {
        match name.to_ascii_lowercase().as_str() {
            "null" => Ok(Expression::Constant(Cell::Null)),
            "true" => Ok(Expression::Constant(Cell::Bool(true))),
            "false" => Ok(Expression::Constant(Cell::Bool(false))),
            "case" => self.case(),
            "debug" => {
                let help = "leave it out: nothing is printed during the load";
                Err(self.diagnostic("debug is not offered", help))
            }
            _ => self.call(name),
        }
    }

    /// `CASE WHEN a THEN b ... ELSE c END`
    fn case(&mut self) -> Result<Expression, Diagnostic> {
        let mut cases = Vec::new();
        while self.take_word("when") {
            let condition = self.expression()?;
            self.expect_word("then")?;
            cases.push((condition, self.expression()?));
        }
        if cases.is_empty() {
            return Err(self.missing("WHEN"));
        }
        let otherwise = match self.take_word("else") {
            true => self.expression()?,
            false => Expression::Constant(Cell::Null),
        };
        self.expect_word("end")?;
        Ok(Expression::Case(cases, otherwise.into()))
    }

    fn call(&mut self, name: &str) -> Result<Expression, Diagnostic> {
        let Some(function) = Function::of(name) else {
            if self.scope.contains_key(name) {
                let help = format!("write :{name}");
                return Err(self.diagnostic(format!("`{name}` is a variable"), help));
            }
            return Err(Diagnostic::unknown(self.line, "function", name, &Function::names()));
        };
        self.expect("(")?;
        let mut arguments = Vec::new();
        if self.take_sign(&[")"]).is_none() {
            arguments.push(self.expression()?);
            while self.take_sign(&[","]).is_some() {
                arguments.push(self.expression()?);
            }
            self.expect(")")?;
        }
        let (allowed, form) = function.arguments();
        if !allowed.contains(&arguments.len()) {
            let message = format!("{name} does not take {} arguments", arguments.len());
            return Err(self.diagnostic(message, format!("write {name}{form}")));
        }
        if function.arguments_without_seed() == Some(arguments.len()) {
            let seed = self.scope.get(DEFAULT_SEED).cloned();
            let help = format!("give it as the last argument of {name}");
            arguments.push(seed.ok_or_else(|| self.diagnostic("a hash without its seed", help))?);
        }
        self.fold_call(function, arguments)
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
            Expression::Negative(inner) | Expression::Not(inner) => constant(inner).is_some(),
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
