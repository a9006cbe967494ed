import { AsyncLocalStorage } from "node:async_hooks";
import { Socket } from "node:net";
import { isRecord } from "@millwright/base";

/** What a driver does besides the responses of its calls. */
export interface ScopeListener {
  /** An exception or rejection that nothing handled. */
  readonly onStrayError: (error: unknown) => void;
  /** A connection that it opens: the host as it names it, or the path of a Unix socket. */
  readonly onConnect: (host: string) => void;
  /** Text on the output of the process, also that of other code. */
  readonly onOutput: (text: string) => void;
}

/** Runs code of a driver so that its side effects are recognized. */
export interface DriverScope {
  run<Result>(act: () => Result): Result;
  /** Restores the process. */
  close(): void;
}

const events = ["unhandledRejection", "uncaughtException"] as const;

/** Host of the arguments of `Socket.connect`, which `net.connect` passes as one array. */
function hostOf(args: readonly unknown[]): string {
  const [first, second] = Array.isArray(args[0]) ? (args[0] as readonly unknown[]) : args;
  if (isRecord(first)) {
    const named = [first["path"], first["host"]].find((each) => typeof each === "string");
    return typeof named === "string" ? named : "localhost";
  }
  return typeof second === "string" ? second : "localhost";
}

/** Takes the place of the listeners for uncaught errors. Errors of other code go to these. */
function watchStrayErrors(scopes: AsyncLocalStorage<true>, { onStrayError }: ScopeListener): () => void {
  const ends = events.map((event) => {
    const former = process.rawListeners(event);
    const handle = (error: unknown, ...rest: readonly unknown[]): void => {
      if (scopes.getStore() === true) return onStrayError(error);
      for (const listener of former) Reflect.apply(listener, process, [error, ...rest]);
      if (former.length === 0) throw error;
    };
    process.removeAllListeners(event);
    Reflect.apply(process.addListener, process, [event, handle]);
    return () => {
      process.removeListener(event, handle);
      for (const listener of former) Reflect.apply(process.addListener, process, [event, listener]);
    };
  });
  return () => {
    for (const end of ends) end();
  };
}

/** Reports connections that are opened in the scope. */
function watchConnections(scopes: AsyncLocalStorage<true>, { onConnect }: ScopeListener): () => void {
  const original = Socket.prototype.connect;
  const watched = function connect(this: Socket, ...args: readonly unknown[]): Socket {
    if (scopes.getStore() === true) onConnect(hostOf(args));
    Reflect.apply(original, this, args);
    return this;
  };
  Object.assign(Socket.prototype, { connect: watched });
  return () => {
    if (Socket.prototype.connect === (watched as unknown)) Object.assign(Socket.prototype, { connect: original });
  };
}

/** Reports what is written to the output of the process. */
function watchOutput({ onOutput }: ScopeListener): () => void {
  const ends = [process.stdout, process.stderr].map((stream) => {
    const original = stream.write;
    const watched = function write(this: typeof stream, ...args: readonly unknown[]): boolean {
      const [chunk] = args;
      onOutput(typeof chunk === "string" ? chunk : chunk instanceof Uint8Array ? Buffer.from(chunk).toString() : "");
      return Boolean(Reflect.apply(original, this, args));
    };
    Object.assign(stream, { write: watched });
    return () => {
      if (stream.write === (watched as unknown)) Object.assign(stream, { write: original });
    };
  });
  return () => {
    for (const end of ends) end();
  };
}

/** Starts to watch the process. Only one scope may be open at a time. */
export function openDriverScope(listener: ScopeListener): DriverScope {
  const scopes = new AsyncLocalStorage<true>();
  const ends = [watchStrayErrors(scopes, listener), watchConnections(scopes, listener), watchOutput(listener)];
  return {
    run: (act) => scopes.run(true, act),
    close() {
      for (const end of ends) end();
    },
  };
}
