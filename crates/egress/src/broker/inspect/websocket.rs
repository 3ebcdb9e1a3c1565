//! Relaying of a websocket: bytes in both directions, with the same limits as other connections.

use std::sync::Arc;

use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

use super::super::exchange::Exchange;
use super::super::quotas::Granted;
use super::super::relay::{End, Most, Over};
use super::rewrite::BodyFilter;
use super::stream::at;
use super::watch::Watch;

/// Both sides of a websocket, with its limits and the filters for bytes of the command and to it.
pub(super) struct Both {
    pub(super) on_client: OnUpgrade,
    pub(super) on_server: OnUpgrade,
    pub(super) granted: Granted,
    pub(super) until: Option<End>,
    pub(super) up_filter: Option<Box<dyn BodyFilter>>,
    pub(super) filter: Option<Box<dyn BodyFilter>>,
    pub(super) exchange: Arc<Exchange>,
}

/// Relays a websocket until its end.
pub(super) async fn carry(conversation: Arc<dyn Watch>, both: Both) {
    let Both { on_client, on_server, granted, until, up_filter, filter, exchange } = both;
    let (Ok(client), Ok(server)) = (on_client.await, on_server.await) else { return conversation.cut() };
    let (from_client, to_client) = tokio::io::split(TokioIo::new(client));
    let (from_server, to_server) = tokio::io::split(TokioIo::new(server));
    let up_most = Most { bytes: granted.upload, bound: Over::Upload };
    let watched = || (Arc::clone(&conversation), Arc::clone(&exchange));
    let up = tokio::spawn(one_way(watched(), from_client, to_server, up_most, up_filter));
    let down_most = Most { bytes: granted.download, bound: Over::Download };
    let down = tokio::spawn(one_way(watched(), from_server, to_client, down_most, filter));
    if let Some(until) = until {
        let (for_end, ended) = watched();
        tokio::spawn(async move {
            at(until.at).await;
            for_end.ended_by(until.bound, &ended);
            for_end.cut();
        });
    }
    up.await.ok();
    down.await.ok();
}

/// Relays one direction. An error ends both.
async fn one_way(
    (conversation, exchange): (Arc<dyn Watch>, Arc<Exchange>),
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut most: Most,
    mut filter: Option<Box<dyn BodyFilter>>,
) {
    // A vector: an array would make the future 16 KiB large, and it is moved when it is spawned.
    let mut room = vec![0; 16 << 10];
    loop {
        let Ok(read) = from.read(&mut room).await else { return conversation.cut() };
        let bytes = room.get(..read).unwrap_or_default();
        conversation.beat();
        if !most.take(read) {
            conversation.ended_by(most.bound, &exchange);
            return conversation.cut();
        }
        exchange.carried(most.bound, read);
        let changed = match &mut filter {
            None => Ok(None),
            Some(filter) if read == 0 => filter.end().map(Some),
            Some(filter) => filter.piece(hyper::body::Bytes::copy_from_slice(bytes)).map(Some),
        };
        let written = match &changed {
            Err(refused) => {
                conversation.cut_by(refused.clone(), &exchange);
                return conversation.cut();
            }
            Ok(Some(changed)) => to.write_all(changed).await,
            Ok(None) => to.write_all(bytes).await,
        };
        // TLS buffers records. A websocket peer may wait for this message before it sends anything.
        let written = if written.is_ok() { to.flush().await } else { written };
        if written.is_err() {
            return conversation.cut();
        }
        if read == 0 {
            to.shutdown().await.ok();
            return;
        }
    }
}
