//! Connections: accepted, encrypted if wanted, and ended in order.

use std::{io, net::SocketAddr, path::Path, sync::Arc, time::Duration};

use axum::{Router, extract::ConnectInfo, http::Request};
use hyper::{
    body::Incoming,
    server::conn::http1,
    service::{Service as _, service_fn},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::{GracefulShutdown, Watcher},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpSocket, TcpStream},
    signal::unix::{Signal, SignalKind, signal},
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    task::JoinSet,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
    },
};

use super::{GuardOptions, ServeOptions, metrics::HttpMetrics, stall::StallLimit};
use crate::{error::ServeError, report::Error};

/// Bytes that are buffered for each connection here; the head of a request must fit.
const BUFFER: usize = 64 * 1024;
/// Bytes that the system buffers for each client, and connections that wait to be accepted.
const SEND_BUFFER: u32 = 128 * 1024;
const BACKLOG: u32 = 1_024;
/// The pause after a connection that cannot be accepted: files may have run out.
const PAUSE: Duration = Duration::from_millis(100);

/// What connections may take.
#[derive(Clone)]
pub(super) struct ConnectionLimits {
    /// How long a client may take to say what it wants, at first and after each answer.
    head: Duration,
    /// How long a client may take none of what is sent to it.
    stall: Duration,
    /// One for each connection: further ones wait to be accepted.
    slots: Arc<Semaphore>,
    metrics: Arc<HttpMetrics>,
}

impl ConnectionLimits {
    pub(super) fn of(options: &GuardOptions, metrics: Arc<HttpMetrics>) -> Self {
        let slots = Arc::new(Semaphore::new(options.connections));
        Self { head: options.header_timeout, stall: options.write_timeout, slots, metrics }
    }
}

/// An open address.
pub(super) struct Listener {
    tcp: TcpListener,
    address: SocketAddr,
    tls: Option<TlsAcceptor>,
}

impl Listener {
    /// Opens the address.
    pub(super) fn open(options: &ServeOptions) -> Result<Self, Error> {
        let tls = match &options.tls {
            Some((cert, key)) => Some(acceptor(cert, key)?),
            None => None,
        };
        let busy = |source: io::Error| {
            Error::Serve(ServeError::Listen { address: options.listen, source })
        };
        let tcp = bound(options.listen).map_err(busy)?;
        let address = tcp.local_addr().map_err(busy)?;
        Ok(Self { tcp, address, tls })
    }

    /// Returns the address as a URL.
    pub(super) fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Returns the address with its port.
    pub(super) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Accepts the next connection that there is room for. Nothing is lost if it is not awaited to
    /// the end.
    async fn accept(
        &self,
        slots: &Arc<Semaphore>,
    ) -> io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
        let slot = Arc::clone(slots).acquire_owned().await.map_err(io::Error::other)?;
        let (stream, peer) = self.tcp.accept().await?;
        Ok((stream, peer, slot))
    }

    /// Answers requests until the server stops, and then those in progress, within a limit.
    pub(super) async fn serve(
        self,
        router: Router,
        limits: ConnectionLimits,
        mut closing: watch::Receiver<bool>,
        limit: Duration,
    ) {
        let graceful = GracefulShutdown::new();
        let mut connections = JoinSet::new();
        while !*closing.borrow() {
            while connections.try_join_next().is_some() {}
            tokio::select! {
                accepted = self.accept(&limits.slots) => match accepted {
                    Ok((stream, peer, slot)) => {
                        let counted = (slot, limits.metrics.connect());
                        let (tls, watcher, head) = (self.tls.clone(), graceful.watcher(), limits.head);
                        nodelay(&stream, peer);
                        let stream = StallLimit::new(stream, limits.stall);
                        let answered = connection(stream, peer, tls, router.clone(), watcher, head);
                        connections.spawn(async move {
                            answered.await;
                            drop(counted);
                        });
                    }
                    Err(error) => {
                        tracing::warn!(%error, "a connection cannot be accepted");
                        tokio::time::sleep(PAUSE).await;
                    }
                },
                // A dropped sender has closed, too.
                changed = closing.changed() => if changed.is_err() {
                    break;
                },
            }
        }
        drop(self);
        if tokio::time::timeout(limit, graceful.shutdown()).await.is_err() {
            tracing::warn!("requests in progress are cut off");
        }
        connections.shutdown().await;
    }
}

/// Opens a socket whose connections buffer little: what a slow client does not take stays here, where
/// it is bounded, and not in the system.
fn bound(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    socket.set_send_buffer_size(SEND_BUFFER)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Lets events, which are small, leave at once.
fn nodelay(stream: &TcpStream, peer: SocketAddr) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%peer, %error, "TCP_NODELAY cannot be set");
    }
}

async fn connection(
    stream: StallLimit<TcpStream>,
    peer: SocketAddr,
    tls: Option<TlsAcceptor>,
    router: Router,
    watcher: Watcher,
    head: Duration,
) {
    let Some(tls) = tls else { return answer(stream, peer, router, watcher, head).await };
    match tokio::time::timeout(head, tls.accept(stream)).await {
        Ok(Ok(stream)) => answer(stream, peer, router, watcher, head).await,
        Ok(Err(error)) => tracing::debug!(%peer, %error, "a TLS handshake failed"),
        Err(_) => tracing::debug!(%peer, "a TLS handshake took too long"),
    }
}

async fn answer(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    peer: SocketAddr,
    router: Router,
    watcher: Watcher,
    head: Duration,
) {
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        router.call(request)
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(head).max_buf_size(BUFFER);
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    if let Err(error) = watcher.watch(connection).await {
        tracing::debug!(%peer, %error, "a connection failed");
    }
}

fn acceptor(cert: &Path, key: &Path) -> Result<TlsAcceptor, Error> {
    let tls = |path: &Path, why: String| {
        Error::Serve(ServeError::Tls { path: path.display().to_string(), why })
    };
    let chain = CertificateDer::pem_file_iter(cert)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| tls(cert, error.to_string()))?;
    let secret = PrivateKeyDer::from_pem_file(key).map_err(|error| tls(key, error.to_string()))?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|config| config.with_no_client_auth().with_single_cert(chain, secret));
    let config = config.map_err(|error| tls(cert, error.to_string()))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Ctrl-C, and the signal that ends a service. From its creation on, neither kills the process.
pub(super) struct StopSignals {
    interrupts: Signal,
    terminations: Signal,
}

impl StopSignals {
    pub(super) fn new() -> Result<Self, Error> {
        let listen = |kind| signal(kind).map_err(|error| Error::Session(error.into()));
        let interrupts = listen(SignalKind::interrupt())?;
        Ok(Self { interrupts, terminations: listen(SignalKind::terminate())? })
    }

    /// Waits until the system, or a person at the keyboard, asks the process to end.
    pub(super) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupts.recv() => {}
            _ = self.terminations.recv() => {}
        }
    }
}
