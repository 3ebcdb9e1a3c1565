//! Operators, as tables.

use crate::ast::{BinaryOp, UnaryOp};

/// How tightly an operator binds, and whether it groups to the right.
#[derive(Debug, Clone, Copy)]
pub(super) struct Binary {
    pub(super) op: BinaryOp,
    pub(super) power: u8,
}

const fn row(op: BinaryOp, power: u8) -> Binary {
    Binary { op, power }
}

/// Operators between operands. The higher binds tighter.
pub(super) const BINARY: &[(&str, Binary)] = &[
    ("??", row(BinaryOp::Coalesce, 1)),
    ("||", row(BinaryOp::Or, 2)),
    ("&&", row(BinaryOp::And, 3)),
    ("|", row(BinaryOp::BitOr, 4)),
    ("^", row(BinaryOp::BitXor, 5)),
    ("&", row(BinaryOp::BitAnd, 6)),
    ("==", row(BinaryOp::Equal, 7)),
    ("!=", row(BinaryOp::NotEqual, 7)),
    ("===", row(BinaryOp::Same, 7)),
    ("!==", row(BinaryOp::NotSame, 7)),
    ("<", row(BinaryOp::Less, 8)),
    ("<=", row(BinaryOp::LessOrEqual, 8)),
    (">", row(BinaryOp::Greater, 8)),
    (">=", row(BinaryOp::GreaterOrEqual, 8)),
    ("in", row(BinaryOp::In, 8)),
    ("instanceof", row(BinaryOp::InstanceOf, 8)),
    ("<<", row(BinaryOp::ShiftLeft, 9)),
    (">>", row(BinaryOp::ShiftRight, 9)),
    (">>>", row(BinaryOp::ShiftRightUnsigned, 9)),
    ("+", row(BinaryOp::Add, 10)),
    ("-", row(BinaryOp::Subtract, 10)),
    ("*", row(BinaryOp::Multiply, 11)),
    ("/", row(BinaryOp::Divide, 11)),
    ("%", row(BinaryOp::Remainder, 11)),
    ("**", row(BinaryOp::Power, POWER)),
];

/// How tightly `**` binds, which alone groups to the right.
pub(super) const POWER: u8 = 12;

/// Operators before an operand.
pub(super) const UNARY: &[(&str, UnaryOp)] = &[
    ("!", UnaryOp::Not),
    ("-", UnaryOp::Minus),
    ("+", UnaryOp::Plus),
    ("~", UnaryOp::BitNot),
    ("typeof", UnaryOp::TypeOf),
    ("void", UnaryOp::Void),
    ("delete", UnaryOp::Delete),
];

/// Assignment operators, and the operation on the old value.
pub(super) const ASSIGN: &[(&str, Option<BinaryOp>)] = &[
    ("=", None),
    ("+=", Some(BinaryOp::Add)),
    ("-=", Some(BinaryOp::Subtract)),
    ("*=", Some(BinaryOp::Multiply)),
    ("/=", Some(BinaryOp::Divide)),
    ("%=", Some(BinaryOp::Remainder)),
    ("**=", Some(BinaryOp::Power)),
    ("<<=", Some(BinaryOp::ShiftLeft)),
    (">>=", Some(BinaryOp::ShiftRight)),
    (">>>=", Some(BinaryOp::ShiftRightUnsigned)),
    ("&=", Some(BinaryOp::BitAnd)),
    ("|=", Some(BinaryOp::BitOr)),
    ("^=", Some(BinaryOp::BitXor)),
    ("&&=", Some(BinaryOp::And)),
    ("||=", Some(BinaryOp::Or)),
    ("??=", Some(BinaryOp::Coalesce)),
];

/// The entry of a mark or word.
pub(super) fn find<T: Copy>(table: &[(&str, T)], mark: &str) -> Option<T> {
    table.iter().find(|(name, _)| *name == mark).map(|(_, entry)| *entry)
}
