//! A private PostgreSQL server: its own folder, no port, gone when its test or the whole test binary ends, however it ends.

use std::io::Write;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use pace_checkout::say_skipped;
use pace_search::study::postgres::Address;
use postgres::{Client, Config, NoTls};

/// Names the folder of the server's programs; without it they are looked for. If it is set, no test may skip itself.
const VARIABLE: &str = "PACE_POSTGRES";
/// Where Debian keeps them, a folder per version.
const DEBIAN: &str = "/usr/lib/postgresql";
/// The server refuses to be root. These users can do nothing else.
const USERS: [&str; 2] = ["postgres", "nobody"];
/// Starts the server, and ends it at once when nobody holds the other end of standard input any more. The folder stays only on
/// request.
const WARDEN: &str = r#"dir="$1"; shift; "$@" & server=$!; read -r word; kill -QUIT $server; wait $server; test "$word" = keep || rm -rf "$dir""#;

/// A server.
pub struct Server {
    programs: PathBuf,
    dir: PathBuf,
    /// Who the server is, if we are root.
    user: Option<(u32, u32)>,
    warden: Option<Child>,
}

impl Server {
    /// A new server of its own; `None`, said aloud, if this machine has none.
    pub fn start() -> Option<Server> {
        Server::or_skip(programs().map(Server::of))
    }

    /// The server that the tests of this process share.
    pub fn shared() -> Option<&'static Server> {
        static SERVER: OnceLock<Option<Server>> = OnceLock::new();
        Server::or_skip(SERVER.get_or_init(|| programs().map(Server::of)).as_ref())
    }

    fn or_skip<T>(server: Option<T>) -> Option<T> {
        if server.is_none() {
            say_skipped(&format!("no PostgreSQL server in {DEBIAN} (Debian: postgresql), and {VARIABLE} names none"));
        }
        server
    }

    /// A new server by these programs.
    fn of(programs: PathBuf) -> Server {
        let dir = tempfile::Builder::new().prefix("pace-pg").tempdir().unwrap().keep();
        let is_root = std::fs::metadata(&dir).unwrap().uid() == 0;
        let user = is_root.then(|| USERS.into_iter().find_map(ids).expect("a user that is not root"));
        if let Some((user, group)) = user {
            chown(&dir, Some(user), Some(group)).unwrap();
        }
        let mut server = Server { programs, dir, user, warden: None };
        let arguments = ["-U", "pace", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "-D"];
        let output = server.command("initdb").args(arguments).arg(server.dir.join("data")).output().unwrap();
        assert!(output.status.success(), "initdb: {}", String::from_utf8_lossy(&output.stderr));
        server.run();
        server
    }

    /// Starts it again after [`stop`](Self::stop), and waits until it answers.
    pub fn run(&mut self) {
        let mut warden = self.command("sh");
        warden.args(["-c", WARDEN, "sh"]).arg(&self.dir).arg(self.programs.join("postgres"));
        warden.arg("-D").arg(self.dir.join("data")).arg("-k").arg(&self.dir);
        // What a killed process has written stays in the memory of the system.
        warden.args(["-c", "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=40"]);
        let log = std::fs::File::options().create(true).append(true).open(self.log()).unwrap();
        warden.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(log);
        let mut child = warden.spawn().unwrap();
        while self.connect().is_err() {
            let log = || std::fs::read_to_string(self.log()).unwrap_or_default();
            assert!(child.try_wait().unwrap().is_none(), "the server ended: {}", log());
            std::thread::sleep(Duration::from_millis(20));
        }
        self.warden = Some(child);
    }

    /// Ends it as a crash would: transactions that have begun are lost, committed ones are not.
    pub fn stop(&mut self) {
        let mut warden = self.warden.take().unwrap();
        warden.stdin.take().unwrap().write_all(b"keep\n").unwrap();
        warden.wait().unwrap();
    }

    /// The address of a study.
    pub fn url(&self, study: &str) -> String {
        format!("postgres://pace@/postgres?host={}&study={study}", self.dir.display())
    }

    /// The same, parsed.
    pub fn address(&self, study: &str) -> Address {
        Address::parse(&self.url(study)).unwrap()
    }

    /// The socket of the server.
    pub fn socket(&self) -> PathBuf {
        self.dir.join(".s.PGSQL.5432")
    }

    /// A connection past everything that is tested.
    pub fn client(&self) -> Client {
        self.connect().unwrap()
    }

    fn connect(&self) -> Result<Client, postgres::Error> {
        Config::new().host_path(&self.dir).user("pace").dbname("postgres").connect(NoTls)
    }

    /// Makes a database, e.g. for tables of another version.
    pub fn database(&self, name: &str) {
        self.client().batch_execute(&format!("create database {name}")).unwrap();
    }

    fn log(&self) -> PathBuf {
        self.dir.join("log")
    }

    fn command(&self, name: &str) -> Command {
        let path = self.programs.join(name);
        let mut command = Command::new(if path.is_file() { path } else { name.into() });
        command.current_dir(&self.dir);
        if let Some((user, group)) = self.user {
            command.uid(user).gid(group);
        }
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut warden) = self.warden.take() {
            drop(warden.stdin.take());
            warden.wait().ok();
        }
    }
}

/// The folder of the newest server.
fn programs() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os(VARIABLE) {
        let named = PathBuf::from(named);
        assert!(named.join("initdb").is_file(), "{VARIABLE} names {}, which holds no initdb", named.display());
        return Some(named);
    }
    let versions = std::fs::read_dir(Path::new(DEBIAN)).ok()?.flatten().map(|entry| entry.path());
    let versions = versions.filter(|version| version.join("bin/initdb").is_file());
    let number = |path: &PathBuf| path.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok());
    versions.max_by_key(number).map(|version| version.join("bin"))
}

/// User and group of a name.
fn ids(name: &str) -> Option<(u32, u32)> {
    let id = |flag: &str| {
        let output = Command::new("id").args([flag, name]).output().ok().filter(|output| output.status.success())?;
        String::from_utf8(output.stdout).ok()?.trim().parse().ok()
    };
    Some((id("-u")?, id("-g")?))
}
