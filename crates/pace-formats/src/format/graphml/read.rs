//! The elements of GraphML, one after another. Open elements stand in a list, so that depth costs no stack.

use std::io::BufRead;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::element::{Lines, attributes, referenced, xml_error};
use super::graph::{Building, Key, Keys, Owner};
use crate::collector::{Collector, Described};
use crate::error::{Error, Place};
use crate::input::truncated;
use crate::summary::Summary;

/// Reads a document.
pub(super) fn read(reader: &mut dyn BufRead, mut collector: Collector<'_>) -> Result<Summary, Error> {
    let file = collector.file;
    let mut xml = Reader::from_reader(Lines::new(reader));
    xml.config_mut().expand_empty_elements = true;
    let (mut document, mut buffer) = (Document::default(), Vec::new());
    loop {
        buffer.clear();
        let event = xml.read_event_into(&mut buffer).map_err(|error| xml_error(error, file));
        let step = event.and_then(|event| document.event(event));
        match step.map_err(|reason| reason.at(file, Place::Line(xml.get_ref().line)))? {
            Step::On => {}
            Step::Graph(graph) => collector.describe(graph)?,
            Step::End => return collector.finish(),
        }
    }
}

/// What an event has led to.
enum Step {
    On,
    Graph(Described),
    End,
}

/// An element that is open.
enum Open {
    Root,
    Key(Key),
    Default,
    Graph,
    Node(usize),
    Edge,
    Data(Owner, String),
    Other,
}

/// What has been read so far.
#[derive(Default)]
struct Document {
    keys: Keys,
    graph: Option<Building>,
    open: Vec<Open>,
    /// The text of the data or default that is open, and whether elements are inside it.
    text: Option<(String, bool)>,
}

impl Document {
    fn event(&mut self, event: Event<'_>) -> Result<Step, Error> {
        match event {
            Event::Start(element) => {
                let open = self.start(&element)?;
                if matches!(open, Open::Data(..) | Open::Default) {
                    self.text = Some((String::new(), false));
                }
                self.open.push(open);
            }
            Event::End(_) => return self.end(),
            Event::Text(text) => self.push(&text.xml10_content()),
            Event::CData(text) => self.push(&text.xml10_content()),
            Event::GeneralRef(reference) if self.text.is_some() => self.push(&referenced(&reference)?),
            Event::Decl(declaration) => {
                let encoding = declaration.encoding().and_then(Result::ok).unwrap_or_else(|| "UTF-8".into());
                if !["UTF-8", "UTF8", "US-ASCII", "ASCII"].contains(&encoding.to_ascii_uppercase().as_str()) {
                    return Err(Error::NotUtf8);
                }
            }
            Event::Eof if self.open.is_empty() => return Ok(Step::End),
            Event::Eof => return Err(truncated("in the middle of an element")),
            // Empty elements come as start and end.
            Event::Empty(_) | Event::Comment(_) | Event::PI(_) | Event::DocType(_) | Event::GeneralRef(_) => {}
        }
        Ok(Step::On)
    }

    fn push(&mut self, text: &str) {
        if let Some((so_far, _)) = &mut self.text {
            so_far.push_str(text);
        }
    }

    fn start(&mut self, element: &BytesStart<'_>) -> Result<Open, Error> {
        if let Some((_, has_elements)) = &mut self.text {
            *has_elements = true;
            return Ok(Open::Other);
        }
        let name = element.local_name();
        Ok(match (name.into_inner(), self.open.last()) {
            ("graphml", None) => Open::Root,
            (name, None) => return Err(Error::syntax("<graphml>", name)),
            ("key", Some(Open::Root)) => {
                let [id, name, yfiles, owner] = attributes(element, ["id", "attr.name", "yfiles.type", "for"])?;
                let id = required(id, "key", "id")?;
                let name = name.or(yfiles).unwrap_or_else(|| id.clone());
                Open::Key(Key { id, name, owner: owner.unwrap_or_else(|| "all".to_owned()), default: None })
            }
            ("default", Some(Open::Key(_))) => Open::Default,
            ("graph", Some(Open::Root)) => {
                let [id, direction] = attributes(element, ["id", "edgedefault"])?;
                if required(direction, "graph", "edgedefault")? != "directed" {
                    return Err(undirected("an undirected graph"));
                }
                self.graph = Some(Building::new(id));
                Open::Graph
            }
            ("graph", Some(_)) => return Err(unsupported("a graph inside another", "flatten it into one graph")),
            ("hyperedge", _) => return Err(unsupported("a hyperedge", "make it edges between two nodes")),
            ("node", Some(Open::Graph)) => {
                let [id] = attributes(element, ["id"])?;
                let (id, graph) = (required(id, "node", "id")?, self.graph.get_or_insert_default());
                match graph.node(id, &self.keys)? {
                    Owner::Node(node) => Open::Node(node),
                    Owner::Graph | Owner::Edge => Open::Other,
                }
            }
            ("edge", Some(Open::Graph)) => {
                let [from, to, directed] = attributes(element, ["source", "target", "directed"])?;
                if directed.is_some_and(|directed| directed != "true") {
                    return Err(undirected("an edge without direction"));
                }
                let (from, to) = (required(from, "edge", "source")?, required(to, "edge", "target")?);
                self.graph.get_or_insert_default().edge(from, to);
                Open::Edge
            }
            ("data", Some(parent @ (Open::Graph | Open::Node(_) | Open::Edge))) => {
                let owner = match parent {
                    Open::Node(node) => Owner::Node(*node),
                    Open::Edge => Owner::Edge,
                    _ => Owner::Graph,
                };
                let [key] = attributes(element, ["key"])?;
                Open::Data(owner, self.keys.name(&required(key, "data", "key")?)?)
            }
            _ => Open::Other,
        })
    }

    fn end(&mut self) -> Result<Step, Error> {
        match self.open.pop() {
            Some(Open::Key(key)) => self.keys.add(key)?,
            Some(Open::Default) => {
                let text = self.taken_text();
                if let Some(Open::Key(key)) = self.open.last_mut() {
                    key.default = Some(text);
                }
            }
            Some(Open::Data(owner, name)) => {
                let text = self.taken_text();
                self.graph.get_or_insert_default().data(owner, name, text);
            }
            Some(Open::Graph) => {
                let graph = self.graph.take().unwrap_or_default();
                return Ok(Step::Graph(graph.finish(&self.keys)?));
            }
            Some(Open::Root | Open::Node(_) | Open::Edge | Open::Other) | None => {}
        }
        Ok(Step::On)
    }

    /// The text of what has just been closed. White space around elements means nothing.
    fn taken_text(&mut self) -> String {
        match self.text.take() {
            Some((text, true)) => text.trim().to_owned(),
            Some((text, false)) => text,
            None => String::new(),
        }
    }
}

fn required(value: Option<String>, element: &str, attribute: &str) -> Result<String, Error> {
    value.ok_or_else(|| Error::expected(format!("<{element} {attribute}=\"...\">"), "an element without it"))
}

fn undirected(what: &str) -> Error {
    unsupported(what, "make it a DAG, with edgedefault=\"directed\"")
}

fn unsupported(what: &str, remedy: &'static str) -> Error {
    Error::Unsupported { what: what.to_owned(), remedy }
}
