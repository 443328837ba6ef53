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

/** A bot's connection with the arena, over as many streams as it takes. */
final class Connection {
  private static final MethodDescriptor<BotMessage, ArenaMessage> PLAY =
      MethodDescriptor.<BotMessage, ArenaMessage>newBuilder()
          .setType(MethodDescriptor.MethodType.BIDI_STREAMING)
          .setFullMethodName("cardarena.v1.PlayService/Play")
          .setRequestMarshaller(ProtoUtils.marshaller(BotMessage.getDefaultInstance()))
          .setResponseMarshaller(ProtoUtils.marshaller(ArenaMessage.getDefaultInstance()))
          .build();

  /** A longer time that an arena asks for is taken as this. */
  private static final java.time.Duration MAX_RETRY = java.time.Duration.ofSeconds(300);

  private static final System.Logger LOG = System.getLogger("cardarena");

  private final Session session;
  private final Redial redial;
  private final Dialer dialer;

  Connection(Session session, Redial redial, Dialer dialer) {
    this.session = session;
    this.redial = redial;
    this.dialer = dialer;
  }

  /** Opens stream after stream until play is over. */
  void run() throws InterruptedException {
    Redial.Attempt next = redial.first();
    while (!next.equals(Redial.Attempt.NONE)) {
      Thread.sleep(next.delay().toMillis());
      Redial.StreamEnd end = stream(next.endpoint());
      next = redial.after(end);
      if (!end.redirect().isEmpty()) {
        LOG.log(System.Logger.Level.INFO, "redirected to " + next.endpoint());
      } else if (!next.equals(Redial.Attempt.NONE)) {
        String what = end.welcomed() ? "the stream ended" : "no arena at " + next.endpoint();
        LOG.log(System.Logger.Level.INFO, what + " (" + end.shortly() + "); connecting again");
      }
    }
  }

  /** Plays on one stream until it ends. */
  private Redial.StreamEnd stream(String endpoint) throws InterruptedException {
    long beganNanos = System.nanoTime();
    ManagedChannel channel = dialer.dial(endpoint);
    Stream stream = new Stream();
    try {
      ClientCalls.asyncBidiStreamingCall(channel.newCall(PLAY, CallOptions.DEFAULT), stream);
      session.opened(stream.out);
      stream.writer.start();
      Ended ended = stream.ended.get();
      if (!stream.refused.isEmpty()) {
        throw new PlayException.Refused(stream.refused);
      }
      boolean sentAway = !stream.redirect.isEmpty();
      java.time.Duration lived = java.time.Duration.ofNanos(System.nanoTime() - beganNanos);
      return new Redial.StreamEnd(
          sentAway ? Status.OK : ended.status,
          stream.welcomed,
          lived,
          session.lost(),
          stream.redirect,
          ended.retry(),
          ended.reason());
    } catch (ExecutionException error) {
      throw new IllegalStateException(error);
    } finally {
      session.lost();
      stream.out.close();
      channel.shutdownNow();
    }
  }

  /** How a call ended. */
  private record Ended(Status status, Metadata trailers) {
    /** The reason that the end of the call names; empty if none. */
    String reason() {
      for (Any detail : details()) {
        try {
          if (detail.is(ErrorInfo.class)) {
            return detail.unpack(ErrorInfo.class).getReason();
          }
        } catch (InvalidProtocolBufferException error) {
          return ""; // what cannot be read says nothing
        }
      }
      return "";
    }

    /** How long it asks a client to stay away. */
    java.time.Duration retry() {
      java.time.Duration longest = java.time.Duration.ZERO;
      for (Any detail : details()) {
        try {
          if (detail.is(RetryInfo.class)) {
            Duration asked = detail.unpack(RetryInfo.class).getRetryDelay();
            java.time.Duration found =
                java.time.Duration.ofSeconds(asked.getSeconds(), asked.getNanos());
            longest = found.compareTo(longest) > 0 ? found : longest;
          }
        } catch (InvalidProtocolBufferException | ArithmeticException error) {
          return longest;
        }
      }
      return longest.compareTo(MAX_RETRY) > 0 ? MAX_RETRY : longest;
    }

    private List<Any> details() {
      com.google.rpc.Status told = StatusProto.fromStatusAndTrailers(status, trailers);
      return told == null ? List.of() : told.getDetailsList();
    }
  }

  /** One stream: reads on gRPC's thread, which never waits, and writes on one of its own. */
  private final class Stream implements ClientResponseObserver<BotMessage, ArenaMessage> {
    final CompletableFuture<Ended> ended = new CompletableFuture<>();
    volatile boolean welcomed;
    volatile String redirect = "";
    volatile String refused = "";
    final Outbox out = new Outbox();
    final Thread writer = new Thread(this::write, "cardarena-writer");
    private ClientCallStreamObserver<BotMessage> call;
    private int playing;

    @Override
    public void beforeStart(ClientCallStreamObserver<BotMessage> stream) {
      call = stream;
      call.setOnReadyHandler(out::room);
      writer.setDaemon(true);
    }

    /** Writes what gathers, whenever the call takes more. */
    private void write() {
      try {
        List<BotMessage> messages = out.next(call::isReady);
        while (!messages.isEmpty()) {
          messages.forEach(call::onNext);
          messages = out.next(call::isReady);
        }
      } catch (IllegalStateException | InterruptedException error) {
        // How the stream ended, its reader learns.
      }
    }

    @Override
    public void onNext(ArenaMessage message) {
      if (!redirect.isEmpty() || !refused.isEmpty()) {
        return;
      }
      Session.Received received = session.receive(message, System.nanoTime());
      received.say.forEach(line -> LOG.log(System.Logger.Level.WARNING, line));
      welcomed |= received.welcomed;
      redirect = received.redirect;
      refused = received.refused;
      if (!redirect.isEmpty() || !refused.isEmpty()) {
        call.cancel("hangs up", null);
        return;
      }
      tellPlaying(received.welcomed);
    }

    private void tellPlaying(boolean justWelcomed) {
      List<String> games = session.seated();
      if (justWelcomed) {
        LOG.log(System.Logger.Level.INFO, "welcome to the arena; in play: " + games.size());
      } else if (games.isEmpty() && playing > 0) {
        LOG.log(System.Logger.Level.INFO, "waiting for a match");
      } else if (games.size() > playing) {
        String newest = games.get(games.size() - 1);
        LOG.log(System.Logger.Level.INFO, "playing " + newest + "; in play: " + games.size());
      }
      playing = games.size();
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
