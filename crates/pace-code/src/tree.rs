//! [`Tree`]: nodes in depth-first order, packed into two allocations.

use crate::kind::NodeKind;

/// A syntax tree whose nodes are numbered in depth-first pre-order, children in the order of CPython's `_fields`.
///
/// Node 0 is the `Module`, and every other node stands after its parent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    nodes: Vec<Packed>,
    /// The attributes, one after another.
    text: String,
}

/// One node of a [`Tree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node<'a> {
    /// Its class.
    pub kind: NodeKind,
    /// Its parent; `None` for the root.
    pub parent: Option<usize>,
    /// How many ancestors it has.
    pub depth: usize,
    /// Its name, number or text, as Python's `str` prints it; `None` if it is not attributed.
    pub attribute: Option<&'a str>,
}

/// A part of the text of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    start: u32,
    len: u32,
}

impl Span {
    /// No text at all, which differs from an empty one.
    const NONE: Span = Span { start: u32::MAX, len: 0 };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Packed {
    parent: u32,
    depth: u32,
    attribute: Span,
    kind: NodeKind,
}

impl Tree {
    /// How many nodes there are.
    pub fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// One node.
    ///
    /// # Panics
    /// If there is no node of that number.
    pub fn node(&self, node: usize) -> Node<'_> {
        self.unpack(&self.nodes[node])
    }

    /// All nodes, in depth-first order.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = Node<'_>> {
        self.nodes.iter().map(|packed| self.unpack(packed))
    }

    fn unpack(&self, packed: &Packed) -> Node<'_> {
        let Span { start, len } = packed.attribute;
        let (start, len) = (start as usize, len as usize);
        Node {
            kind: packed.kind,
            parent: (packed.depth > 0).then_some(packed.parent as usize),
            depth: packed.depth as usize,
            attribute: (packed.attribute != Span::NONE).then(|| &self.text[start..start + len]),
        }
    }

    /// Adds a root.
    pub(crate) fn add_root(&mut self, kind: NodeKind) -> u32 {
        self.nodes.push(Packed { parent: 0, depth: 0, attribute: Span::NONE, kind });
        self.last()
    }

    /// Adds a node without attribute below a node that exists.
    pub(crate) fn add(&mut self, kind: NodeKind, parent: u32) -> u32 {
        let depth = self.nodes[parent as usize].depth + 1;
        self.nodes.push(Packed { parent, depth, attribute: Span::NONE, kind });
        self.last()
    }

    // A tree has fewer nodes and less text than 16 times the bytes of its source, of which there are few: u32 is enough.
    fn last(&self) -> u32 {
        self.nodes.len() as u32 - 1
    }

    /// Gives a node the attribute that was written since `start`, a former [`Tree::text_end`].
    pub(crate) fn attribute_from(&mut self, node: u32, start: u32) {
        self.nodes[node as usize].attribute = self.span_from(start);
    }

    /// Gives a node an attribute that was written earlier.
    pub(crate) fn set_attribute(&mut self, node: u32, span: Span) {
        self.nodes[node as usize].attribute = span;
    }

    /// What was written since `start`.
    pub(crate) fn span_from(&self, start: u32) -> Span {
        Span { start, len: self.text_end() - start }
    }

    /// Where the next attribute will start.
    pub(crate) fn text_end(&self) -> u32 {
        self.text.len() as u32
    }

    /// Where attributes are written.
    pub(crate) fn text_mut(&mut self) -> &mut String {
        &mut self.text
    }

    /// Makes room for the tree of a source of so many bytes.
    pub(crate) fn with_capacity(n_source_bytes: usize) -> Tree {
        // Typical functions have a node for every 8 to 16 bytes, and half of their text is attributes.
        Tree { nodes: Vec::with_capacity(n_source_bytes / 8 + 8), text: String::with_capacity(n_source_bytes / 2 + 8) }
    }
}
