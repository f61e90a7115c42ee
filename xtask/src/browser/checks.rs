//! What a reader would see.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::session::{Session, base64, text};

/// Width of a desk, in CSS pixels.
const DESK: u32 = 1280;
/// Width of a narrow phone.
const PHONE: u32 = 360;

/// The outcome of a check, by its name.
type Outcome = (&'static str, Result<()>);

/// All checks; they need no particular order.
pub fn all<'a>(session: &'a Session, page: &'a Path, folder: &'a Path) -> impl Iterator<Item = Outcome> + 'a {
    type Check = fn(&Session, &Path) -> Result<()>;
    let checks: [(&str, Check); 10] = [
        ("nothing is reported on the console", silence),
        ("pointing at a dot shows its graph", pointing),
        ("the keyboard shows graphs, too", keyboard),
        ("names are text, whatever they hold", inert),
        ("nothing is wider than a phone", narrow),
        ("dark is dark and light is light", colours),
        ("a light picture", |session, folder| picture(session, folder, "light", DESK, false)),
        ("a dark picture", |session, folder| picture(session, folder, "dark", DESK, true)),
        ("a picture on a phone", |session, folder| picture(session, folder, "phone", PHONE, false)),
        ("it prints", print),
    ];
    checks.into_iter().map(move |(name, check)| {
        let loaded = session.emulate(DESK, false).and_then(|()| session.load(page));
        (name, loaded.and_then(|()| check(session, folder)))
    })
}

/// Fails if the console has anything to say.
pub fn silence(session: &Session, _: &Path) -> Result<()> {
    let log = session.log()?;
    ensure!(log.is_empty(), "the console says {}", log.join("; "));
    Ok(())
}

/// The page has a map; reports without one are fine, too.
fn has_map(session: &Session) -> Result<bool> {
    Ok(session.script("return document.querySelector('figure.map') !== null")? == json!(true))
}

/// How many nodes the graph beside the first map has.
fn n_shown(session: &Session) -> Result<u64> {
    let found = session.script("return document.querySelectorAll('.shown .dag g rect').length")?;
    found.as_u64().context("no count of nodes")
}

/// The middle of a dot of the last view of the first map, scrolled into sight.
const DOT: &str = "const views = document.querySelector('figure.map').querySelectorAll('.view svg');
    const view = views[views.length - 1];
    view.scrollIntoView({ block: 'center', behavior: 'instant' });
    const dots = [...view.querySelectorAll('circle:not(.small):not(.ring)')];
    const box = dots[dots.length >> 1].getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];";

fn pointing(session: &Session, folder: &Path) -> Result<()> {
    if !has_map(session)? {
        return Ok(());
    }
    let shown = || session.script("return document.querySelector('.shown').innerHTML");
    let before = shown()?;
    let place = session.script(DOT)?;
    let [Some(x), Some(y)] = [0, 1].map(|axis| place[axis].as_f64()) else { bail!("no place of a dot: {place}") };
    session.point(x, y)?;
    ensure!(n_shown(session)? > 0 && shown()? != before, "no other graph is shown at ({x}, {y})");
    let ring = session.script("return document.querySelector('figure.map .ring').getAttribute('visibility')")?;
    ensure!(text(&ring) == "visible", "no ring marks the dot");
    session.picture(&folder.join("map.png"))?;
    silence(session, folder)
}

fn keyboard(session: &Session, folder: &Path) -> Result<()> {
    const TAB: &str = "\u{e004}";
    const LEFT: &str = "\u{e012}";
    if !has_map(session)? {
        return Ok(());
    }
    // Tab by tab, as a reader would, until a view has the focus.
    let is_there =
        || session.script("return document.activeElement.matches('.view svg')").map(|found| found == json!(true));
    let mut n_tabs = 0;
    while !is_there()? {
        n_tabs += 1;
        ensure!(n_tabs < 200, "no map after {n_tabs} tabs");
        session.keys(TAB)?;
    }
    let shown = || session.script("return document.querySelector('.shown').innerHTML");
    let first = shown()?;
    ensure!(n_shown(session)? > 0, "the focus shows no graph");
    session.keys(LEFT)?;
    ensure!(shown()? != first, "an arrow key shows no other graph");
    silence(session, folder)
}

/// Looks at every graph of every map, then whether any name became an element or ran.
fn inert(session: &Session, folder: &Path) -> Result<()> {
    session.script(
        "for (const view of document.querySelectorAll('.view svg')) {
            view.focus();
            for (const key of ['Home', ...Array(40).fill('ArrowRight'), ...Array(40).fill('ArrowDown'), 'End'])
                view.dispatchEvent(new KeyboardEvent('keydown', { key }));
        }",
    )?;
    let found = session.script(
        "return { ran: window.hacked === 1, images: document.images.length, frames: window.frames.length,
            scripts: document.querySelectorAll('script:not([type])').length,
            handlers: [...document.querySelectorAll('*')].filter((element) =>
                element.getAttributeNames().some((name) => name.startsWith('on'))).length }",
    )?;
    let count = |name: &str| found[name].as_u64().unwrap_or(u64::MAX);
    let is_clean = found["ran"] == json!(false) && count("images") + count("frames") + count("handlers") == 0;
    ensure!(is_clean && count("scripts") <= 1, "a name came to life: {found}");
    silence(session, folder)
}

/// Fails if the page as a whole can be scrolled to the side on a phone.
pub fn narrow(session: &Session, _: &Path) -> Result<()> {
    session.emulate(PHONE, false)?;
    let sizes = session
        .script("const root = document.scrollingElement; return [root.scrollWidth, root.clientWidth, innerWidth]")?;
    let size = |index: usize| sizes[index].as_u64().unwrap_or(u64::MAX);
    let widest = || {
        session.script(
            "return [...document.querySelectorAll('body *')].filter((element) => !element.closest('.scroll')
                && element.getBoundingClientRect().right > 361).slice(0, 3).map((element) => element.outerHTML.slice(0, 90))",
        )
    };
    ensure!(
        size(0) <= u64::from(PHONE) && size(2) == u64::from(PHONE),
        "{sizes} pixels wide, because of {}",
        widest()?
    );
    Ok(())
}

/// Brightness of the page and of its text, from 0 to 255.
const BRIGHTNESS: &str = "const style = getComputedStyle(document.body);
    return [style.backgroundColor, style.color].map((colour) => {
        const [r, g, b] = colour.match(/[\\d.]+/g).map(Number);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    });";

fn colours(session: &Session, _: &Path) -> Result<()> {
    for dark in [false, true] {
        session.emulate(DESK, dark)?;
        let found: Value = session.script(BRIGHTNESS)?;
        let (ground, ink) = (found[0].as_f64().unwrap_or(128.0), found[1].as_f64().unwrap_or(128.0));
        let (brighter, darker) = if dark { (ink, ground) } else { (ground, ink) };
        ensure!(brighter > 200.0 && darker < 60.0, "dark {dark}: ground {ground:.0}, text {ink:.0}");
    }
    Ok(())
}

fn picture(session: &Session, folder: &Path, name: &str, width: u32, dark: bool) -> Result<()> {
    session.emulate(width, dark)?;
    session.picture(&folder.join(format!("{name}.png")))
}

fn print(session: &Session, folder: &Path) -> Result<()> {
    session.emulate(DESK, true)?;
    let printed = session.post("/print", &json!({}))?;
    let bytes = base64(text(&printed)).context("a print that is not base64")?;
    ensure!(bytes.starts_with(b"%PDF-") && bytes.len() > 10_000, "{} bytes that are no PDF", bytes.len());
    std::fs::write(folder.join("print.pdf"), bytes).context("could not write print.pdf")
}
