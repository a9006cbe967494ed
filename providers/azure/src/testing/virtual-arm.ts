import { createHttpHeaders, type HttpClient } from "@azure/core-rest-pipeline";
import { systemRandom } from "@millwright/core";
import { createVirtualClock } from "@millwright/core/testing";
import { type ArmEmulatorOptions, createArmEmulator } from "@millwright/emulators/arm";
import { createTokenBuckets } from "@millwright/emulators/server";
import { createAzureDriver } from "../driver.ts";

/** Reads that Azure Resource Manager allows a subscription and principal (Microsoft Learn, "Understand how Azure Resource Manager throttles requests"). */
const readBudget = { burst: 250, perSecond: 25 };

/**
 * An emulated Azure and the driver against it, without connections and in virtual time: the whole driver with the SDKs runs, but every request takes `latencyMs` of the virtual clock. Reads beyond
 * the limit of Azure Resource Manager are refused.
 */
export function aVirtualCloud(options: Omit<ArmEmulatorOptions, "clock">, latencyMs = 200) {
  const clock = createVirtualClock();
  const arm = createArmEmulator({ ...options, clock });
  const mayRead = createTokenBuckets(readBudget, clock);
  const requests: { readonly method: string; readonly path: string; readonly status: number }[] = [];
  const never = new AbortController().signal;
  const httpClient: HttpClient = {
    async sendRequest(request) {
      const url = new URL(request.url);
      await clock.sleep(latencyMs, request.abortSignal instanceof AbortSignal ? request.abortSignal : undefined);
      const isThrottled = request.method === "GET" && !mayRead("reads");
      const reply = isThrottled
        ? { status: 429, headers: { "retry-after": "1" }, body: "" }
        : arm.answer({
            method: request.method,
            url,
            headers: { ...request.headers.toJSON(), host: url.host },
            body: typeof request.body === "string" ? request.body : "",
            signal: never,
          });
      requests.push({ method: request.method, path: url.pathname, status: reply.status });
      return { request, status: reply.status, headers: createHttpHeaders(reply.headers), bodyAsText: reply.body };
    },
  };
  const driver = createAzureDriver({
    endpoint: "https://arm.test",
    httpClient,
    clock,
    random: { ...systemRandom, next: () => 0 },
  });
  /** Lets time go on until some work has ended. */
  const untilDone = async <T>(work: Promise<T>): Promise<T> => {
    const progress = { isDone: false };
    const end = work.finally(() => (progress.isDone = true));
    end.catch(() => undefined);
    while (!progress.isDone) await clock.advance(100);
    return end;
  };
  return { clock, arm, driver, requests, untilDone };
}
