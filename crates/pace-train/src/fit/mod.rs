//! [`fit`]: the training loop.

use std::ops::ControlFlow;
use std::time::Instant;

use burn::tensor::Device;
use pace_model::device::is_flex;
use pace_model::objective::Objective;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use crate::Error;
use crate::checkpoint::{Checkpoint, Resumed, State};
use crate::collective::{Alone, Collective, any};
use crate::gradient::{StepLoss, gradients, mix, scale};
use crate::shards::own_sum;
use crate::snapshot::share;
use crate::source::Source;
use crate::team::together;

mod clock;
mod config;
mod event;

use clock::Clock;
pub(crate) use clock::Spent;
pub use config::{FitConfig, Reduction};
pub use event::{Epoch, Event};

/// A trained model and the history of its training.
#[derive(Clone, Debug)]
pub struct Fitted<M> {
    /// The model after the last step.
    pub model: M,
    /// All epochs, including those before a resumption.
    pub epochs: Vec<Epoch>,
    /// Graphs trained on, counted once per epoch, including those before a resumption.
    pub graphs: usize,
    /// Wall-clock seconds they took. What a killed process did after its last checkpoint counts neither here nor in `graphs`.
    pub seconds: f64,
    /// Seconds that the process spent computing meanwhile, on all cores together.
    pub cpu_seconds: f64,
}

/// What an observer says after an event: nothing, or whether the training goes on.
pub trait Verdict {
    /// Whether the training goes on. Asked after [`Event::Steps`], every few steps.
    fn goes_on(self) -> bool;
}

impl Verdict for () {
    fn goes_on(self) -> bool {
        true
    }
}

impl Verdict for ControlFlow<()> {
    fn goes_on(self) -> bool {
        self.is_continue()
    }
}

/// Losses are read, and events sent, this often: reading waits for the device.
const READ_EVERY: usize = 16;

/// Minimises `model`'s loss over `source`.
///
/// Epoch e visits all graphs in an order drawn from (seed, e); step s draws everything random from (seed, s). With a
/// checkpoint, a run that was killed resumes where the last one was written. With the same number of threads and devices it
/// ends with the same bits as a run without interruption. `devices` are autodiff devices; if there are several, each takes
/// a part of every batch.
///
/// # Errors
/// A setting out of range, an empty dataset, a loss that is not a number, or a checkpoint that is damaged, of another run,
/// in use by another process or cannot be written.
pub fn fit<M, S>(
    model: M,
    source: &S,
    config: &FitConfig,
    devices: &[Device],
    checkpoint: Option<&Checkpoint>,
    mut observe: impl FnMut(Event<'_>),
) -> Result<Fitted<M>, Error>
where
    S: Source,
    M: Objective<S::Batch> + Sync,
{
    fit_watched(model, source, config, devices, checkpoint, |event, _| observe(event))
}

/// As [`fit`], for an observer that looks at the model, too, such as one that draws its quality over time. The time it takes is
/// not counted as training. If it answers [`Break`](std::ops::ControlFlow::Break), a checkpoint is written and the training ends.
///
/// # Errors
/// As [`fit`], and [`Error::Stopped`].
pub fn fit_watched<M, S, V>(
    model: M,
    source: &S,
    config: &FitConfig,
    devices: &[Device],
    checkpoint: Option<&Checkpoint>,
    watch: impl FnMut(Event<'_>, &M) -> V,
) -> Result<Fitted<M>, Error>
where
    S: Source,
    M: Objective<S::Batch> + Sync,
    V: Verdict,
{
    fit_collective(model, source, config, devices, &Alone, checkpoint, watch)
}

/// As [`fit_watched`], by several processes together: each calls this with equal arguments, and computes its share of the
/// [`shards`](FitConfig::shards) of every batch. All end with the same model.
///
/// Rank 0 alone reads and writes the checkpoint; where it starts, all start. If an observer of any rank ends the training, all end
/// it. With the same shards and the same threads per process, 1, 2, 4, ... processes end with the same bits, and each of them
/// resumes what another number has begun. A batch of B graphs in S shards is computed in pieces of B / S: with more shards than
/// processes this costs time.
///
/// # Errors
/// As [`fit_watched`]; the number of processes must be a power of two and at most that of the shards. A process with an error must
/// end the others, see `Mpi`.
pub fn fit_collective<M, S, V>(
    model: M,
    source: &S,
    config: &FitConfig,
    devices: &[Device],
    ranks: &dyn Collective,
    checkpoint: Option<&Checkpoint>,
    mut watch: impl FnMut(Event<'_>, &M) -> V,
) -> Result<Fitted<M>, Error>
where
    S: Source,
    M: Objective<S::Batch> + Sync,
    V: Verdict,
{
    config.check(source.n_graphs(), devices.len(), ranks.size())?;
    let checkpoint = checkpoint.filter(|_| ranks.rank() == 0);
    let n_graphs = source.n_graphs();
    let steps_per_epoch = n_graphs.div_ceil(config.batch_size);
    let n_steps = (config.epochs * steps_per_epoch).min(config.max_steps.unwrap_or(usize::MAX));
    let n_epochs = n_steps.div_ceil(steps_per_epoch);
    let _lock = checkpoint.map(Checkpoint::lock).transpose()?;
    let start = match checkpoint {
        Some(checkpoint) => checkpoint.resume(model, config, n_graphs)?,
        None => Resumed::start(model, config),
    };
    let Resumed { mut model, mut optimiser, mut state, damage } = share(start, config, ranks);
    let place = (ranks.rank(), ranks.size());
    // Other devices tie their queues to threads, and with several devices each has its own thread.
    let is_cpu = matches!(devices, [device] if is_flex(device));
    let mut clock = Clock::start(state.spent());
    if let Some(damage) = &damage {
        clock.hold(|| watch(Event::FellBack { damage }, &model));
    }
    clock.hold(|| watch(Event::Start { step: state.step, n_steps, graphs_per_step: config.batch_size }, &model));
    let (mut saved, mut unseen) = (Instant::now(), 0);
    while state.epochs.len() < n_epochs && !stopped(&state.epochs, config.early_stop) {
        let (epoch, epoch_start) = (state.epochs.len(), clock.spent().seconds);
        let order = shuffled(n_graphs, mix(config.seed, epoch as u64));
        let batches = source.cut(&order, config.batch_size);
        let batches = batches.into_iter().skip(state.step - epoch * steps_per_epoch).take(n_steps - state.step);
        let mut pending = Vec::with_capacity(READ_EVERY);
        let rate = |state: &State, step| config.optimiser.lr * config.schedule.factor(&state.schedule, step, n_steps);
        // The rate of the step before, in case a checkpoint was written after the last step of an epoch.
        let mut lr = rate(&state, state.step.saturating_sub(1));
        for rows in batches {
            lr = rate(&state, state.step);
            // Another stream than that of the shuffling.
            let seed = mix(!config.seed, state.step as u64);
            let factor = |count: usize| if config.reduction == Reduction::Mean { 1.0 / count as f64 } else { 1.0 };
            let loss;
            (model, loss) = if config.shards == 1 {
                team(is_cpu, || {
                    let (loss, grads) = gradients(&model, source, rows, seed, devices);
                    let grads = scale(&model, grads, factor(loss.count), config.clip);
                    (optimiser.step(lr, model, grads), loss)
                })
            } else {
                let own = || own_sum(&model, source, rows, seed, config.shards, place, devices);
                let mut flat = team(is_cpu, own);
                // Only this thread talks to other processes.
                flat.sum(ranks);
                team(is_cpu, || {
                    flat.scale(factor(flat.count()), config.clip);
                    let (loss, grads) = flat.unpack(&model, &devices[0].clone().inner());
                    (optimiser.step(lr, model, grads), loss)
                })
            };
            pending.push(loss);
            state.step += 1;
            state.graphs += rows.len();
            unseen += rows.len();
            let is_last = state.step.is_multiple_of(steps_per_epoch) || state.step == n_steps;
            if pending.len() == READ_EVERY || is_last {
                read(&mut pending, &mut state, epoch + 1, lr)?;
                let (loss, seconds) = (state.loss / state.count as f64, clock.spent().seconds);
                let graphs = std::mem::take(&mut unseen);
                let event = Event::Steps { step: state.step, graphs, loss, seconds };
                let ends = !clock.hold(|| watch(event, &model)).goes_on();
                if any(ranks, ends) {
                    state.spend(clock.spent());
                    checkpoint.map_or(Ok(()), |to| to.save(&model, &optimiser, &state, config, n_graphs))?;
                    return Err(Error::Stopped { step: state.step, n_steps });
                }
                if let Some(checkpoint) = checkpoint.filter(|checkpoint| checkpoint.is_due(saved)) {
                    state.spend(clock.spent());
                    checkpoint.save(&model, &optimiser, &state, config, n_graphs)?;
                    saved = Instant::now();
                    clock.hold(|| watch(Event::Saved { step: state.step }, &model));
                }
            }
        }
        let outcome = Epoch { loss: state.loss / state.count as f64, lr };
        config.schedule.end_epoch(&mut state.schedule, outcome.loss);
        (state.loss, state.count) = (0.0, 0);
        let seconds = clock.spent().seconds - epoch_start;
        clock.hold(|| watch(Event::Epoch { epoch: epoch + 1, outcome: &outcome, seconds }, &model));
        state.epochs.push(outcome);
    }
    state.spend(clock.spent());
    if let Some(checkpoint) = checkpoint {
        checkpoint.save(&model, &optimiser, &state, config, n_graphs)?;
        watch(Event::Saved { step: state.step }, &model);
    }
    let Spent { seconds, cpu_seconds } = state.spent();
    Ok(Fitted { model, epochs: state.epochs, graphs: state.graphs, seconds, cpu_seconds })
}

/// Runs `work` on a worker of the pool while the others stay awake, if the CPU computes.
fn team<R: Send>(is_cpu: bool, work: impl FnOnce() -> R + Send) -> R {
    if is_cpu { together(work) } else { work() }
}

fn shuffled(n: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    order
}

/// Adds the losses of past steps to the epoch's.
fn read(pending: &mut Vec<StepLoss>, state: &mut State, epoch: usize, lr: f64) -> Result<(), Error> {
    let first = state.step - pending.len();
    for (index, loss) in pending.drain(..).enumerate() {
        for total in loss.totals {
            let total = f64::from(total.into_scalar::<f32>());
            if !total.is_finite() {
                return Err(Error::Diverged { loss: total, epoch, step: first + index + 1, lr });
            }
            state.loss += total;
        }
        state.count += loss.count;
    }
    Ok(())
}

/// Whether the lowest loss is at least `patience` epochs old.
fn stopped(epochs: &[Epoch], patience: Option<usize>) -> bool {
    let Some(patience) = patience else { return false };
    let lowest = epochs.iter().enumerate().min_by(|(_, a), (_, b)| a.loss.total_cmp(&b.loss));
    lowest.is_some_and(|(epoch, _)| epochs.len() - 1 - epoch >= patience)
}
