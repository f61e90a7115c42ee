//! Syntax trees of made-up Python functions, in depth-first order.
//!
//! A small grammar with the node types of CPython's `ast`. Grammar matters here: real trees repeat themselves (every name
//! has a `Load` below it, calls take several equal arguments), and these symmetries are what a canonical order works on.

use pace_graph::Op;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Node types; the number of a variant is the operation.
#[derive(Clone, Copy)]
enum Kind {
    Module,
    FunctionDef,
    Arguments,
    Arg,
    Assign,
    AugAssign,
    Return,
    If,
    For,
    Expr,
    Call,
    Attribute,
    Name,
    Constant,
    BinOp,
    Compare,
    Subscript,
    Tuple,
    Load,
    Store,
    Add,
    Mult,
    Eq,
    Lt,
}

/// Expressions and blocks nest no deeper than this; real functions reach 13 to 24 nodes of depth.
const MAX_NESTING: usize = 5;

/// A tree under construction.
struct Tree<'a> {
    rng: &'a mut ChaCha8Rng,
    ops: Vec<Op>,
    edges: Vec<(usize, usize)>,
}

/// Operations and edges, parent to child, of one function of exactly `n_nodes` nodes.
pub fn function(rng: &mut ChaCha8Rng, n_nodes: usize) -> (Vec<Op>, Vec<(usize, usize)>) {
    let mut tree = Tree { rng, ops: vec![Kind::Module as Op], edges: Vec::new() };
    let function = tree.node(0, Kind::FunctionDef);
    let arguments = tree.node(function, Kind::Arguments);
    for _ in 0..tree.rng.random_range(1..=5) {
        tree.node(arguments, Kind::Arg);
    }
    while tree.ops.len() < n_nodes {
        tree.statement(function, 0);
    }
    // In depth-first order any prefix is a tree.
    tree.ops.truncate(n_nodes);
    tree.edges.truncate(n_nodes - 1);
    (tree.ops, tree.edges)
}

impl Tree<'_> {
    fn node(&mut self, parent: usize, kind: Kind) -> usize {
        let node = self.ops.len();
        self.ops.push(kind as Op);
        self.edges.push((parent, node));
        node
    }

    fn statement(&mut self, parent: usize, nesting: usize) {
        match self.rng.random_range(0..if nesting < MAX_NESTING { 12 } else { 9 }) {
            0..4 => {
                let assign = self.node(parent, Kind::Assign);
                self.name(assign, Kind::Store);
                self.expression(assign, nesting);
            }
            4 => {
                let assign = self.node(parent, Kind::AugAssign);
                self.name(assign, Kind::Store);
                self.node(assign, Kind::Add);
                self.expression(assign, nesting);
            }
            5..8 => {
                let statement = self.node(parent, Kind::Expr);
                self.call(statement, nesting);
            }
            8 => {
                let statement = self.node(parent, Kind::Return);
                self.expression(statement, nesting);
            }
            9 | 10 => {
                let branch = self.node(parent, Kind::If);
                self.compare(branch, nesting);
                self.block(branch, nesting);
            }
            _ => {
                let cycle = self.node(parent, Kind::For);
                self.name(cycle, Kind::Store);
                self.expression(cycle, nesting);
                self.block(cycle, nesting);
            }
        }
    }

    fn block(&mut self, parent: usize, nesting: usize) {
        for _ in 0..self.rng.random_range(1..=3) {
            self.statement(parent, nesting + 1);
        }
    }

    fn expression(&mut self, parent: usize, nesting: usize) {
        match self.rng.random_range(0..if nesting < MAX_NESTING { 12 } else { 6 }) {
            0..4 => self.name(parent, Kind::Load),
            4 | 5 => {
                self.node(parent, Kind::Constant);
            }
            6 | 7 => self.call(parent, nesting),
            8 => {
                let operation = self.node(parent, Kind::BinOp);
                self.expression(operation, nesting + 1);
                let kind = if self.rng.random_bool(0.6) { Kind::Add } else { Kind::Mult };
                self.node(operation, kind);
                self.expression(operation, nesting + 1);
            }
            9 => {
                let item = self.node(parent, Kind::Subscript);
                self.name(item, Kind::Load);
                self.expression(item, nesting + 1);
                self.node(item, Kind::Load);
            }
            10 => {
                let tuple = self.node(parent, Kind::Tuple);
                for _ in 0..self.rng.random_range(2..=3) {
                    self.expression(tuple, nesting + 1);
                }
                self.node(tuple, Kind::Load);
            }
            _ => self.attribute(parent),
        }
    }

    fn compare(&mut self, parent: usize, nesting: usize) {
        let compare = self.node(parent, Kind::Compare);
        self.expression(compare, nesting + 1);
        let kind = if self.rng.random_bool(0.5) { Kind::Eq } else { Kind::Lt };
        self.node(compare, kind);
        self.expression(compare, nesting + 1);
    }

    fn call(&mut self, parent: usize, nesting: usize) {
        let call = self.node(parent, Kind::Call);
        if self.rng.random_bool(0.5) {
            self.attribute(call);
        } else {
            self.name(call, Kind::Load);
        }
        for _ in 0..self.rng.random_range(0..=3) {
            self.expression(call, nesting + 1);
        }
    }

    fn attribute(&mut self, parent: usize) {
        let attribute = self.node(parent, Kind::Attribute);
        self.name(attribute, Kind::Load);
        self.node(attribute, Kind::Load);
    }

    fn name(&mut self, parent: usize, context: Kind) {
        let name = self.node(parent, Kind::Name);
        self.node(name, context);
    }
}
