//! A connection whose client must take what is sent to it: one that takes nothing for a while is
//! ended, and leaves its place to others.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Sleep, sleep},
};

/// A connection that fails once a write has made no progress for a time.
#[derive(Debug)]
pub(super) struct StallLimit<S> {
    stream: S,
    limit: Duration,
    /// Runs while a write waits for the client.
    waits: Option<Pin<Box<Sleep>>>,
}

impl<S: AsyncWrite + Unpin> StallLimit<S> {
    pub(super) const fn new(stream: S, limit: Duration) -> Self {
        Self { stream, limit, waits: None }
    }

    /// Passes on what a write came to; fails if it has waited for too long.
    fn watch<T>(
        &mut self,
        context: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut S>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let written = write(Pin::new(&mut self.stream), context);
        if written.is_ready() {
            self.waits = None;
            return written;
        }
        let limit = self.limit;
        let waits = self.waits.get_or_insert_with(|| Box::pin(sleep(limit)));
        match waits.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for StallLimit<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for StallLimit<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.watch(context, |stream, context| stream.poll_write(context, bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.watch(context, |stream, context| stream.poll_write_vectored(context, parts))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    // A flush may succeed while a write waits: it says nothing of progress.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    #[tokio::test]
    async fn write_that_makes_no_progress_fails_and_one_that_is_read_does_not() {
        let (near, mut far) = duplex(8);
        let mut near = StallLimit::new(near, Duration::from_hours(1));
        let reader = tokio::spawn(async move {
            let mut taken = [0; 40];
            far.read_exact(&mut taken).await.expect("it is open");
            far
        });
        near.write_all(&[0; 40]).await.expect("it makes progress");
        let _open = reader.await.expect("it has read");
        near.limit = Duration::from_millis(10);
        let stalled = near.write_all(&[0; 40]).await.expect_err("nobody reads");
        assert_eq!(stalled.kind(), io::ErrorKind::TimedOut);
    }
}
