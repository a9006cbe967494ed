import { ConfigError } from "@millwright/base";
import { untilStopSignal } from "../terminal/signals.ts";

/** Flags of `millwright driver serve`. */
export interface DriverServeFlags {
  readonly listen: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsClientCa?: string;
  /** Permissions of a unix socket. */
  readonly socketMode: number;
  /** What the files of the driver must have. */
  readonly digest?: string;
  readonly untilStdinCloses?: boolean;
  /** Made by the parent process for this one alone. */
  readonly privateFolder?: string;
  /** Mebibytes. */
  readonly memoryLimit?: number;
}

const MEBIBYTE = 1_048_576;
const UNIX = "unix://";

function tlsOf({ tlsCert: cert, tlsKey: key, tlsClientCa: ca }: DriverServeFlags) {
  if (cert === undefined && key === undefined && ca === undefined) return {};
  if (cert === undefined || key === undefined || ca === undefined)
    throw new ConfigError("--tls-cert, --tls-key and --tls-client-ca: use all of them, or none");
  return { tls: { cert, key, ca } };
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

const guardOptions = ({ memoryLimit, privateFolder }: DriverServeFlags) => ({
  ...(memoryLimit === undefined ? {} : { maxBytes: memoryLimit * MEBIBYTE }),
  ...(privateFolder === undefined ? {} : { privateFolder }),
});

/** Serves a driver over gRPC until a signal. */
export async function driverServe(name: string, flags: DriverServeFlags): Promise<number> {
  const signal = untilStopSignal();
  const [{ createJsonLog, loadDriver, superviseProcess, versionOfDriver }, { guardProcess, serveDriver }] =
    await Promise.all([import("@millwright/runtime"), import("@millwright/driver-rpc")]);
  const log = createJsonLog("info");
  const endSupervision = superviseProcess({
    log,
    onOwnError(error) {
      // The driver is all that runs here: the host answers calls in flight with Unavailable, and the next process continues.
      log("error", "Unexpected error", { error });
      process.exit(1);
    },
  });
  const guard = flags.untilStdinCloses === true ? guardProcess(guardOptions(flags)) : undefined;
  const driver = await loadDriver(name, flags.digest === undefined ? {} : { digest: flags.digest });
  const version = await versionOfDriver(name);
  const server = await serveDriver(driver, flags.listen, {
    ...tlsOf(flags),
    version,
    socketMode: flags.socketMode,
    log,
  });
  if (guard === undefined) log("info", "Serving a driver", { driver: driver.name, address: server.address });
  else if (server.address.startsWith(UNIX)) guard.removeSocketAtEnd(server.address.slice(UNIX.length));
  await aborted(signal);
  await server.close();
  endSupervision();
  return 0;
}
