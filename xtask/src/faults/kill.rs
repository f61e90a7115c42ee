//! kill -9 at random moments.

use anyhow::{Result, bail};

use super::Bed;
use super::compare::same;
use super::moments::Moments;
use super::table::Table;
use super::work::Work;

/// Kills in one folder, before the program may end.
const IN_A_ROW: usize = 5;
/// A resumed program has less left to do: moments are drawn from this share of the undisturbed time.
const SHARE: f64 = 0.4;

/// Kills the program so many times and compares every folder with that of an undisturbed run.
pub fn often(work: &Work, bed: &Bed, n_kills: usize, moments: &mut Moments, table: &mut Table) -> Result<()> {
    let root = bed.root.join(work.name.split(' ').next().unwrap_or(work.name));
    let calm = root.join("calm");
    let span = work.calm(&calm)?;
    let mut killed = Vec::new();
    let mut folders = 0;
    let outcome = loop {
        if killed.len() == n_kills {
            let shown = killed.iter().map(|moment| format!("{moment:.0}")).collect::<Vec<_>>().join(" ");
            break Ok(format!("{folders} folders equal the undisturbed one; killed after {shown} ms"));
        }
        folders += 1;
        if folders > 3 * n_kills {
            bail!("{} ends before it can be killed", work.name);
        }
        let dir = root.join(format!("killed-{folders}"));
        for _ in 0..IN_A_ROW.min(n_kills - killed.len()) {
            let share = if work.is_repeated { 1.0 } else { SHARE };
            let moment = span.mul_f64(share * moments.draw());
            if !work.kill_after(&dir, moment)? {
                break;
            }
            killed.push(moment.as_secs_f64() * 1000.0);
        }
        if let Err(error) = work.complete(&dir).and_then(|()| same(&calm, &dir)) {
            break Err(error);
        }
    };
    table.add(format!("kill -9, {}", work.name), killed.len(), outcome);
    Ok(())
}
