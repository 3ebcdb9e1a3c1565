//! A server for the files of a release, which also answers as a broken or hostile mirror.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::{fs, thread};

use testkit::Stop;

use super::index::SUMS;
use super::pack::failed;

/// What the mirror does to the files, which is the first part of the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing.
    Faithful,
    /// One byte of the archive is another.
    ChangedArchive,
    /// The archive ends in the middle, at a length that was announced so.
    ShortArchive,
    /// The connection breaks in the middle of the archive.
    BrokenConnection,
    /// Archive and list were replaced together, without the key.
    ReplacedList,
    /// The list has no signature.
    NoSignature,
    /// The list does not have the archive.
    OtherVersion,
}

const FAULTS: &[(Fault, &str)] = &[
    (Fault::Faithful, "faithful"),
    (Fault::ChangedArchive, "changed-archive"),
    (Fault::ShortArchive, "short-archive"),
    (Fault::BrokenConnection, "broken-connection"),
    (Fault::ReplacedList, "replaced-list"),
    (Fault::NoSignature, "no-signature"),
    (Fault::OtherVersion, "other-version"),
];

/// A server on this machine, which ends with the process.
pub(crate) struct Mirror {
    address: SocketAddr,
}

impl Mirror {
    /// Serves the files of a directory.
    pub(crate) fn serve(directory: &Path) -> Result<Self, Stop> {
        let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| failed(directory, &error))?;
        let address = listener.local_addr().map_err(|error| failed(directory, &error))?;
        let directory = directory.to_owned();
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                // A client that leaves early is what some cases are about.
                drop(answer(connection, &directory));
            }
        });
        Ok(Self { address })
    }

    /// The address of the files with a fault.
    pub(crate) fn url(&self, fault: Fault) -> String {
        let name = FAULTS.iter().find(|row| row.0 == fault).map_or("faithful", |row| row.1);
        format!("http://{}/{name}", self.address)
    }
}

fn answer(mut connection: TcpStream, directory: &Path) -> std::io::Result<()> {
    let mut reader = BufReader::new(connection.try_clone()?.take(16 * 1024));
    let mut request = String::new();
    reader.read_line(&mut request)?;
    let mut line = String::new();
    while reader.read_line(&mut line)? > 2 {
        line.clear();
    }
    let path = request.split(' ').nth(1).unwrap_or_default();
    let mut parts = path.trim_start_matches('/').split('/');
    let (fault, name) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let fault = FAULTS.iter().find(|row| row.1 == fault).map(|row| row.0);
    let body = fault.and_then(|fault| Some((fault, served(directory, name, fault)?)));
    let Some((fault, body)) = body else {
        return connection
            .write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    };
    write!(connection, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len())?;
    let sent = if fault == Fault::BrokenConnection && is_archive(name) { body.len() / 2 } else { body.len() };
    connection.write_all(body.get(..sent).unwrap_or_default())
}

/// The bytes of a file, as a mirror with a fault serves them.
fn served(directory: &Path, name: &str, fault: Fault) -> Option<Vec<u8>> {
    let file: PathBuf = directory.join(Path::new(name).file_name()?);
    let mut bytes = fs::read(file).ok()?;
    match fault {
        Fault::ChangedArchive | Fault::ReplacedList if is_archive(name) => {
            let middle = bytes.len() / 2;
            bytes.get_mut(middle).map(|byte| *byte ^= 1)?;
        }
        Fault::ShortArchive if is_archive(name) => bytes.truncate(bytes.len() / 2),
        // Which sum stands there does not matter: the signature is checked before it.
        Fault::ReplacedList if name == SUMS => bytes.rotate_left(1),
        Fault::NoSignature if name.ends_with(".minisig") => return None,
        _ => {}
    }
    Some(bytes)
}

fn is_archive(name: &str) -> bool {
    name.ends_with(".tar.gz")
}
