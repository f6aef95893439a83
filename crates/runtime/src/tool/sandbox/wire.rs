//! What this program and its helper say to each other, over the helper's standard input.
//!
//! First come descriptors. Then the helper says that all is ready, or why it refuses, and
//! executes the command only after a byte that says so: where this program has ended
//! meanwhile, the helper reads the end of the line, and ends too.

use std::{
    io::{self, IoSlice, IoSliceMut, Read, Write},
    mem::MaybeUninit,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::net::UnixStream,
    },
};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

/// Descriptors in one message.
const BATCH: usize = 64;

/// The helper is ready to execute the command.
pub(in crate::tool) const READY: u8 = b'r';
/// The helper refuses; why comes after it.
pub(in crate::tool) const REFUSED: u8 = b'x';
/// The command may be executed.
pub(in crate::tool) const GO: u8 = b'g';
/// The command has ended; what could not be stopped comes after it.
pub(in crate::tool) const OVER: u8 = b'e';

/// Sends descriptors.
pub(in crate::tool) fn send(line: impl AsFd, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    for batch in descriptors.chunks(BATCH) {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(BATCH))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !control.push(SendAncillaryMessage::ScmRights(batch)) {
            return Err(io::Error::other("too many descriptors"));
        }
        sendmsg(&line, &[IoSlice::new(b"d")], &mut control, SendFlags::NOSIGNAL)?;
    }
    Ok(())
}

/// Receives this many descriptors. They are closed on exec.
pub(super) fn receive(line: impl AsFd, count: usize) -> io::Result<Vec<OwnedFd>> {
    let mut received = Vec::new();
    while received.len() < count {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(BATCH))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut byte = [0];
        let flags = RecvFlags::CMSG_CLOEXEC;
        let got = recvmsg(&line, &mut [IoSliceMut::new(&mut byte)], &mut control, flags)?;
        if got.bytes == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                received.extend(descriptors);
            }
        }
    }
    Ok(received)
}

/// Returns the line to the program that started this one.
pub(super) fn line() -> io::Result<UnixStream> {
    Ok(io::stdin().as_fd().try_clone_to_owned()?.into())
}

/// Says that all is ready, and waits until the command may be executed.
pub(super) fn may_go(mut line: &UnixStream) -> io::Result<()> {
    line.write_all(&[READY])?;
    let mut byte = [0];
    line.read_exact(&mut byte)?;
    if byte == [GO] { Ok(()) } else { Err(io::ErrorKind::InvalidData.into()) }
}
