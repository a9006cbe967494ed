import type { Clock } from "@millwright/base";
import type { CloudExchange } from "../driver/cloud-exchange.ts";
import type { DriverContext } from "../driver/driver.ts";
import { fieldOf } from "./call-failure.ts";

/** The request of an exchange. */
export type ExchangeRequest = Pick<CloudExchange, "method" | "url" | "requestHeaders" | "requestBody">;

/** An exchange whose request has been sent. Only the first call counts. */
export interface ExchangeRecord {
  answered(status: number, headers: Readonly<Record<string, string>>, body: string): void;
  /** The request failed without an answer, or in the middle of one. */
  failed(error: unknown): void;
}

const noRecord: ExchangeRecord = { answered: () => undefined, failed: () => undefined };

/**
 * Starts to record an exchange.
 *
 * @param record that of the context; absent if nothing is recorded
 * @param request called only if the exchange is recorded
 */
export function beginExchange(
  record: DriverContext["recordExchange"],
  clock: Clock,
  request: () => ExchangeRequest,
): ExchangeRecord {
  if (record === undefined) return noRecord;
  const startMs = clock.monotonicMs();
  const sent = request();
  let isOver = false;
  const end = (rest: Omit<CloudExchange, keyof ExchangeRequest | "seconds">): void => {
    if (!isOver) record({ ...sent, ...rest, seconds: (clock.monotonicMs() - startMs) / 1_000 });
    isOver = true;
  };
  return {
    answered: (status, responseHeaders, responseBody) => end({ status, responseHeaders, responseBody }),
    failed(error) {
      const code = fieldOf(error, "code") ?? fieldOf(fieldOf(error, "cause"), "code") ?? fieldOf(error, "name");
      end({ error: typeof code === "string" ? code : "unknown" });
    },
  };
}
