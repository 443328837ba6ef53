package cardarena;

import cardarena.v1.ArenaMessage;
import cardarena.v1.BotMessage;
import com.google.protobuf.Any;
import com.google.protobuf.Duration;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.protobuf.ProtoUtils;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ClientResponseObserver;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/** The connection of a bot to the arena: one stream after another. */
final class Connection {
  private static final MethodDescriptor<BotMessage, ArenaMessage> PLAY =
      MethodDescriptor.<BotMessage, ArenaMessage>newBuilder()
          .setType(MethodDescriptor.MethodType.BIDI_STREAMING)
          .setFullMethodName("cardarena.v1.PlayService/Play")
          .setRequestMarshaller(ProtoUtils.marshaller(BotMessage.getDefaultInstance()))
          .setResponseMarshaller(ProtoUtils.marshaller(ArenaMessage.getDefaultInstance()))
          .build();

  /** The maximum delay that an arena can request before the next stream. */
  private static final java.time.Duration MAX_RETRY_DELAY = java.time.Duration.ofSeconds(300);

  private static final System.Logger LOG = System.getLogger("cardarena");

  private final Session session;
  private final Redial redial;
  private final Dialer dialer;

  Connection(Session session, Redial redial, Dialer dialer) {
    this.session = session;
    this.redial = redial;
    this.dialer = dialer;
  }

  /** Opens one stream after another until play ends. */
  void run() throws InterruptedException {
    Redial.Attempt next = redial.first();
    while (!next.equals(Redial.Attempt.NONE)) {
      Thread.sleep(next.delay().toMillis());
      Redial.StreamEnd end = stream(next.endpoint());
      next = redial.after(end);
      if (!end.redirect().isEmpty()) {
        LOG.log(System.Logger.Level.INFO, "the arena redirected the bot to " + next.endpoint());
      } else if (!next.equals(Redial.Attempt.NONE)) {
        String what = end.welcomed() ? "the stream ended" : "cannot connect to " + next.endpoint();
        LOG.log(System.Logger.Level.INFO, what + " (" + end.summary() + "); reconnecting");
      }
    }
  }

  /** Plays on one stream until it ends. */
  private Redial.StreamEnd stream(String endpoint) throws InterruptedException {
    long openedNanos = System.nanoTime();
    ManagedChannel channel = dialer.dial(endpoint);
    Stream stream = new Stream();
    try {
      ClientCalls.asyncBidiStreamingCall(channel.newCall(PLAY, CallOptions.DEFAULT), stream);
      session.streamOpened(stream.out);
      stream.writer.start();
      Ended ended = stream.ended.get();
      if (!stream.refused.isEmpty()) {
        throw new PlayException.Refused(stream.refused);
      }
      boolean redirected = !stream.redirect.isEmpty();
      java.time.Duration openFor = java.time.Duration.ofNanos(System.nanoTime() - openedNanos);
      return new Redial.StreamEnd(
          redirected ? Status.OK : ended.status,
          stream.welcomed,
          openFor,
          session.streamLost(),
          stream.redirect,
          ended.retryDelay(),
          ended.reason());
    } catch (ExecutionException error) {
      throw new IllegalStateException(error);
    } finally {
      session.streamLost();
      stream.out.close();
      channel.shutdownNow();
    }
  }

  /** How a call ended. */
  private record Ended(Status status, Metadata trailers) {
    /** The reason that the arena gave; empty if none. */
    String reason() {
      for (Any detail : details()) {
        try {
          if (detail.is(ErrorInfo.class)) {
            return detail.unpack(ErrorInfo.class).getReason();
          }
        } catch (InvalidProtocolBufferException error) {
          return ""; // malformed details are ignored
        }
      }
      return "";
    }

    /** The delay that the arena requested. */
    java.time.Duration retryDelay() {
      java.time.Duration longest = java.time.Duration.ZERO;
      for (Any detail : details()) {
        try {
          if (detail.is(RetryInfo.class)) {
            Duration requested = detail.unpack(RetryInfo.class).getRetryDelay();
            java.time.Duration delay =
                java.time.Duration.ofSeconds(requested.getSeconds(), requested.getNanos());
            longest = delay.compareTo(longest) > 0 ? delay : longest;
          }
        } catch (InvalidProtocolBufferException | ArithmeticException error) {
          return longest;
        }
      }
      return longest.compareTo(MAX_RETRY_DELAY) > 0 ? MAX_RETRY_DELAY : longest;
    }

    private List<Any> details() {
      com.google.rpc.Status rich = StatusProto.fromStatusAndTrailers(status, trailers);
      return rich == null ? List.of() : rich.getDetailsList();
    }
  }

  /**
   * One stream. It reads on gRPC's thread, which never blocks, and writes on a thread of its own.
   */
  private final class Stream implements ClientResponseObserver<BotMessage, ArenaMessage> {
    final CompletableFuture<Ended> ended = new CompletableFuture<>();
    volatile boolean welcomed;
    volatile String redirect = "";
    volatile String refused = "";
    final Outbox out = new Outbox();
    final Thread writer = new Thread(this::write, "cardarena-writer");
    private ClientCallStreamObserver<BotMessage> call;
    private int matchesBefore;

    @Override
    public void beforeStart(ClientCallStreamObserver<BotMessage> stream) {
      call = stream;
      call.setOnReadyHandler(out::wakeWriter);
      writer.setDaemon(true);
    }

    /** Writes the waiting messages whenever the call has room. */
    private void write() {
      try {
        List<BotMessage> messages = out.next(call::isReady);
        while (!messages.isEmpty()) {
          messages.forEach(call::onNext);
          messages = out.next(call::isReady);
        }
      } catch (IllegalStateException | InterruptedException error) {
        // The reader gets the status of the stream.
      }
    }

    @Override
    public void onNext(ArenaMessage message) {
      if (!redirect.isEmpty() || !refused.isEmpty()) {
        return;
      }
      Session.Received received = session.receive(message, System.nanoTime());
      received.warnings.forEach(line -> LOG.log(System.Logger.Level.WARNING, line));
      welcomed |= received.welcomed;
      redirect = received.redirect;
      refused = received.refused;
      if (!redirect.isEmpty() || !refused.isEmpty()) {
        call.cancel("the bot closed the stream", null);
        return;
      }
      logMatches(received.welcomed);
    }

    private void logMatches(boolean justWelcomed) {
      List<String> games = session.games();
      if (justWelcomed) {
        LOG.log(
            System.Logger.Level.INFO, "connected to the arena; matches in play: " + games.size());
      } else if (games.isEmpty() && matchesBefore > 0) {
        LOG.log(System.Logger.Level.INFO, "waiting for a match");
      } else if (games.size() > matchesBefore) {
        String newest = games.get(games.size() - 1);
        LOG.log(
            System.Logger.Level.INFO, "playing " + newest + "; matches in play: " + games.size());
      }
      matchesBefore = games.size();
    }

    @Override
    public void onError(Throwable error) {
      Metadata trailers = Status.trailersFromThrowable(error);
      ended.complete(
          new Ended(Status.fromThrowable(error), trailers == null ? new Metadata() : trailers));
    }

    @Override
    public void onCompleted() {
      ended.complete(new Ended(Status.OK, new Metadata()));
    }
  }
}
