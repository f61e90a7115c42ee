//! [`Watch`]: who looks at a training.

use std::ops::ControlFlow;

use pace_train::Event;

/// Who looks at a training, such as a progress bar; it may end it.
pub trait Watch {
    /// Something happened. After `Break` the training writes a checkpoint and ends with an error; the same call again resumes.
    fn event(&mut self, event: &Event<'_>) -> ControlFlow<()>;

    /// A remark for people.
    fn say(&mut self, text: &str);
}

/// Nobody looks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Watch for Silent {
    fn event(&mut self, _: &Event<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn say(&mut self, _: &str) {}
}
