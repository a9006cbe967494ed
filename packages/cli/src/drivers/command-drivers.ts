import { ConfigError, systemClock } from "@millwright/base";
import type { Driver } from "@millwright/core";
import { isAddress, type ProviderTlsFlags, tlsOf } from "./driver-address.ts";

/** How long a command waits for a driver at an address, milliseconds. */
const CONNECT_MS = 10_000;

/** The drivers of a command that ends by itself. They run in its process, or at their addresses. */
export interface CommandDrivers {
  /** @throws ConfigError in one line when the driver cannot be loaded or connected */
  load(name: string): Promise<Driver>;
  close(): Promise<void>;
}

/** Makes the loader of the drivers of a command. */
export function createCommandDrivers(flags: ProviderTlsFlags): CommandDrivers {
  const closes: (() => Promise<void>)[] = [];
  return {
    async load(name) {
      if (!isAddress(name)) return (await import("@millwright/runtime/checks")).loadDriver(name);
      const { connectDriver } = await import("@millwright/driver-rpc");
      const waiting = new AbortController();
      let reason = "it does not respond";
      const timer = systemClock.setTimer(CONNECT_MS, () =>
        waiting.abort(new ConfigError(`--provider ${name}: no driver can be reached there: ${reason}`)),
      );
      try {
        const { driver, close } = await connectDriver(name, {
          ...tlsOf(flags),
          signal: waiting.signal,
          log: (_level, _message, fields) => (reason = String(fields?.["error"])),
        });
        closes.push(close);
        return driver;
      } finally {
        timer.cancel();
      }
    },
    async close() {
      await Promise.all(closes.splice(0).map((close) => close()));
    },
  };
}
