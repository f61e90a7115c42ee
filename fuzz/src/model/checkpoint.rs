//! The checkpoint of a fit.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use pace_graph::enumerate::Enas;
use pace_model::DagTable;
use pace_train::{Checkpoint, Error, FitConfig, Fitted, OptimiserConfig, fit};

use super::{device, model, spec, tiny};
use crate::{scratch, seed};

type Model = pace_model::objective::Vae<pace_model::encoder::Pace, pace_model::decoder::PaceDecoder>;

/// The files of a whole checkpoint, relative to the folder above it. Nothing here depends on how they are called.
static WHOLE: LazyLock<Vec<(PathBuf, Vec<u8>)>> = LazyLock::new(|| {
    let dir = scratch().join("whole");
    run(&dir).expect("an undisturbed run");
    let mut files = Vec::new();
    collect(&dir, &dir, &mut files);
    files.sort();
    files
});

fn collect(root: &Path, dir: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(dir).expect("just written") {
        let path = entry.expect("just written").path();
        if path.is_dir() {
            collect(root, &path, files);
        } else {
            let name = path.strip_prefix(root).expect("below it").to_owned();
            files.push((name, fs::read(&path).expect("just written")));
        }
    }
}

/// Two steps on two graphs, with a checkpoint in the folder.
fn run(dir: &Path) -> Result<Fitted<Model>, Error> {
    static TABLE: LazyLock<DagTable> =
        LazyLock::new(|| DagTable::new(&seed::graphs(&Enas { n_layers: 1 }, 2), &tiny().layout(&spec())));
    let config = FitConfig { epochs: 2, batch_size: 2, optimiser: OptimiserConfig::adam(1e-3), ..FitConfig::vae() };
    let checkpoint = Checkpoint::new(dir.join("checkpoint"), "a model").every(Duration::ZERO);
    let device = device().clone().autodiff();
    let model = tiny().init(&spec(), 0, &device);
    fit(model, &*TABLE, &config, &[device], Some(&checkpoint), |_| {})
}

/// Each file of a checkpoint, behind a byte that says which one it is.
pub fn seeds() -> Vec<Vec<u8>> {
    drop(model());
    WHOLE.iter().enumerate().map(|(index, (_, content))| [&[index as u8], content.as_slice()].concat()).collect()
}

/// A fit that finds a checkpoint with one file replaced resumes or says what is wrong.
pub fn read(input: &[u8]) {
    let Some((&which, content)) = input.split_first() else { return };
    let dir = scratch().join("run");
    let _ = fs::remove_dir_all(&dir);
    let which = usize::from(which) % WHOLE.len();
    for (index, (name, whole)) in WHOLE.iter().enumerate() {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().expect("below the folder")).expect("the scratch folder is writable");
        fs::write(&path, if index == which { content } else { whole }).expect("the scratch folder is writable");
    }
    if let Err(error) = run(&dir) {
        assert!(error.to_string().contains("checkpoint"), "a message without a place: {error}");
    }
}
