//! The folder of a server and its files. It belongs to the account that the server runs as, and no other account can
//! enter it.

use std::fs::{File, Permissions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::{Context, bail};
use nix::fcntl::OFlag;
use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};
use tempfile::TempDir;

use crate::Scratch;
use crate::account::Account;
use crate::private_file;

/// The longest path that fits the address of a unix socket, bytes.
const SOCKET_PATH_BYTES_MAX: usize = 107;
const SOCKET: &str = "server.sock";

/// A server's folder. Dropping it removes it.
#[derive(Debug)]
pub(crate) struct ServerFolder {
    folder: TempDir,
    socket: PathBuf,
    /// The folder of the socket when its path in the server's folder would be too long.
    socket_folder: Option<Scratch>,
    account: Option<Account>,
}

impl ServerFolder {
    /// Makes a folder below `scratch` for the server of this name, which runs as `account` or as dyno's own account.
    ///
    /// # Errors
    /// When the folder cannot be made, or the account cannot reach it.
    pub(super) fn make(
        name: &str,
        scratch: &Path,
        account: Option<Account>,
    ) -> anyhow::Result<Self> {
        if let Some(account) = &account {
            account.demand_way_to(scratch, "set TMPDIR to a folder that everyone can enter")?;
        }
        let folder = tempfile::Builder::new()
            .prefix(&format!("{}-", name.to_lowercase()))
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(scratch)
            .with_context(|| format!("cannot make a folder in {}", scratch.display()))?;
        let (socket, socket_folder) = socket_of(folder.path())?;
        spread_folders(folder.path());
        let server_folder = Self { folder, socket, socket_folder, account };
        server_folder.give(server_folder.folder.path())?;
        if let Some(folder) = &server_folder.socket_folder {
            server_folder.give(folder.path())?;
        }
        server_folder.make_folder(&server_folder.temporary())?;
        Ok(server_folder)
    }

    /// The server's data folder, which a snapshot copies. The recipe or the server creates it.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// The folder for the server's temporary files; it exists.
    pub(crate) fn temporary(&self) -> PathBuf {
        self.folder.path().join("temporary")
    }

    /// The log: the output of the server's standard streams.
    pub(crate) fn log(&self) -> PathBuf {
        self.folder.path().join("server.log")
    }

    /// The path of a unix socket: in the folder, or in a separate folder when that path is too long.
    pub(crate) fn socket(&self) -> PathBuf {
        self.socket.clone()
    }

    /// The file with the statements that create the server's accounts, for servers that read one.
    pub(crate) fn accounts(&self) -> PathBuf {
        self.folder.path().join("accounts.sql")
    }

    pub(super) fn kept(&self) -> PathBuf {
        self.folder.path().join("kept")
    }

    /// The account that the server runs as; dyno's own when `None`.
    pub(crate) fn account(&self) -> Option<&Account> {
        self.account.as_ref()
    }

    /// Makes a folder that only the server can enter.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub(crate) fn make_folder(&self, path: &Path) -> anyhow::Result<()> {
        private_file::create_folder(path)?;
        self.give(path)
    }

    /// Writes a file that only the server can read.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn write(&self, path: &Path, text: &str) -> anyhow::Result<()> {
        private_file::create(path)
            .and_then(|mut file| io::Write::write_all(&mut file, text.as_bytes()))
            .with_context(|| format!("cannot write {}", path.display()))?;
        self.give(path)
    }

    fn give(&self, path: &Path) -> anyhow::Result<()> {
        self.account.as_ref().map_or(Ok(()), |account| account.own(path))
    }

    /// Makes the socket accessible to its owner alone: some servers open it to all users, whatever the umask is.
    ///
    /// # Errors
    /// When the mode cannot be changed.
    pub(super) fn close_socket(&self) -> anyhow::Result<()> {
        let path = &self.socket;
        close_socket(path).with_context(|| format!("cannot set the mode of {}", path.display()))
    }

    /// Removes the socket that a server has left that was killed: some servers do not start beside it.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub(super) fn remove_socket(&self) -> anyhow::Result<()> {
        private_file::remove(&self.socket)
            .with_context(|| format!("cannot remove {}", self.socket.display()))
    }
}

/// Lets ext4 place each folder that is made in this one in another part of the disk. In one part, it passes for each new
/// file all that were removed there in the last minutes, which takes seconds for the thousand files of a server after
/// some runs. Source: `find_group_orlov` and `recently_deleted` in Linux's `fs/ext4/ialloc.c`, and chattr(1), `T`.
fn spread_folders(folder: &Path) {
    let Ok(folder) = File::open(folder) else { return };
    // Other file systems have no such flag, and do not need it.
    let _ =
        ioctl_getflags(&folder).and_then(|flags| ioctl_setflags(&folder, flags | IFlags::TOPDIR));
}

/// Sets the mode of a socket, if it exists. The file is held open between the check and the change, so that the
/// account that owns the folder cannot replace it by a link meanwhile.
fn close_socket(path: &Path) -> io::Result<()> {
    let flags = (OFlag::O_PATH | OFlag::O_NOFOLLOW).bits();
    let held = match File::options().read(true).custom_flags(flags).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        held => held?,
    };
    if !held.metadata()?.file_type().is_socket() {
        return Ok(());
    }
    let held = format!("/proc/self/fd/{}", held.as_raw_fd());
    fs::set_permissions(held, Permissions::from_mode(0o600))
}

/// The path of the socket of a server in `folder`, and the folder that was made for it, if any.
fn socket_of(folder: &Path) -> anyhow::Result<(PathBuf, Option<Scratch>)> {
    let socket = folder.join(SOCKET);
    if fits(&socket) {
        return Ok((socket, None));
    }
    let folder = Scratch::closed()?;
    let socket = folder.path().join(SOCKET);
    if !fits(&socket) {
        bail!(
            "the path of a unix socket has at most {SOCKET_PATH_BYTES_MAX} bytes, and {} is longer: set \
             TMPDIR to a shorter path",
            socket.display()
        );
    }
    Ok((socket, Some(folder)))
}

fn fits(socket: &Path) -> bool {
    socket.as_os_str().len() <= SOCKET_PATH_BYTES_MAX
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    fn mode(path: &Path) -> u32 {
        path.symlink_metadata().unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn a_long_scratch_path_puts_the_socket_into_a_closed_folder_of_its_own() {
        let scratch = tempfile::tempdir().unwrap();
        let near = ServerFolder::make("MariaDB", scratch.path(), None).unwrap();
        assert_eq!(near.socket().parent(), near.log().parent());
        let long = scratch.path().join("a".repeat(120));
        fs::create_dir(&long).unwrap();
        let server_folder = ServerFolder::make("MariaDB", &long, None).unwrap();
        let socket = server_folder.socket();
        assert!(fits(&socket), "{}", socket.display());
        let folder = socket.parent().unwrap().to_owned();
        assert_eq!(mode(&folder), 0o700);
        drop(server_folder);
        assert!(!folder.exists());
    }

    #[test]
    fn a_socket_is_closed_and_a_link_in_its_place_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let [socket, link, file] = ["socket", "link", "file"].map(|name| folder.path().join(name));
        let _listener = UnixListener::bind(&socket).unwrap();
        fs::set_permissions(&socket, Permissions::from_mode(0o777)).unwrap();
        fs::write(&file, "").unwrap();
        let before = mode(&file);
        std::os::unix::fs::symlink(&socket, &link).unwrap();
        for path in [&link, &file, &folder.path().join("none")] {
            close_socket(path).unwrap();
        }
        assert_eq!((mode(&socket), mode(&file)), (0o777, before));
        close_socket(&socket).unwrap();
        assert_eq!(mode(&socket), 0o600);
    }
}
