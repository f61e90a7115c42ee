//! Tests of what pages show.

mod chart;
mod draw;
mod layout;
mod map;
mod markup;
mod page;
mod palette;
