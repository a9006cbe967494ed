import type { MachineErrorCode } from "@millwright/core";
import { htmlPage, type ProxyFault } from "../proxy/fault.ts";
import type { FaultPlan } from "../proxy/fault-proxy.ts";
import { type CheckContext, type CheckTable, describeError, expect, expectFailure } from "./check.ts";
import { methodCalls } from "./calls.ts";
import { faultDeadlineMs, openCodes } from "./faults.ts";

/** Codes of rejected credentials. */
export const rejected: readonly MachineErrorCode[] = ["Unauthenticated", "PermissionDenied"];
const throttled: readonly MachineErrorCode[] = ["Unavailable", "ResourceExhausted", "DeadlineExceeded", "Aborted"];

const codesOf: Readonly<Record<number, readonly MachineErrorCode[]>> = {
  401: rejected,
  403: rejected,
  429: throttled,
  500: openCodes,
  502: openCodes,
  503: [...openCodes, "ResourceExhausted"],
  504: openCodes,
};

/** An error of the cloud, as the fixture writes it. */
export const errorAnswer = (
  t: CheckContext,
  status: number,
  headers: Readonly<Record<string, string>> = {},
): ProxyFault => {
  const answer = t.fixture.endpoint?.errorAnswer?.(status) ?? { body: "" };
  return { kind: "answer", status, ...answer, headers: { ...answer.headers, ...headers } };
};

/** A fault of all requests to the API of the cloud. */
export const whileApiFails =
  (t: CheckContext, fault: ProxyFault): FaultPlan =>
  (_, request) =>
    t.fixture.endpoint?.isApiRequest?.(request) === false ? undefined : fault;

/** Calls every method of a new instance while all requests to the API have a fault. */
async function whileAllFail(
  t: CheckContext,
  what: string,
  fault: ProxyFault,
  codes: readonly MachineErrorCode[],
): Promise<void> {
  for (const { name, call } of methodCalls(t)) {
    const { caller, proxy } = await t.behindProxy();
    proxy.plan(whileApiFails(t, fault));
    await expectFailure(`${name}, if ${what},`, call(caller, { deadlineMs: faultDeadlineMs }), ...codes);
    await removeCreated(t);
  }
}

/** Deletes the machines of creations that failed: they count as VMs until then. */
async function removeCreated(t: CheckContext): Promise<void> {
  for (const { machine } of t.session.created.values()) await t.caller.remove(machine);
}

const retryAfterS = 30;
const retryDeadlineMs = 5_000;
const mebibyte = 1_048_576;
const largeMiB = 100;
const mostMiB = 80;

/** Checks of failures of the cloud and of the network. */
export const errorChecks = {
  "errors.status-codes": async (t) => {
    for (const [status, codes] of Object.entries(codesOf))
      await whileAllFail(t, `the cloud answers ${status}`, errorAnswer(t, Number(status)), codes);
  },

  "errors.retry-after": async (t) => {
    for (const status of [429, 503]) {
      const { caller, proxy } = await t.behindProxy();
      proxy.plan(whileApiFails(t, errorAnswer(t, status, { "retry-after": String(retryAfterS) })));
      const what = `A call whose cloud answers ${status} with Retry-After`;
      const call = caller.status(t.machine(), { deadlineMs: retryDeadlineMs });
      const { retryAfterMs = 0 } = await expectFailure(what, call, "Unavailable", "ResourceExhausted");
      const isLongEnough = retryAfterMs >= (retryAfterS - 1) * 1_000 - retryDeadlineMs;
      expect(isLongEnough, `${what}: ${retryAfterS} s has retryAfterMs ${retryAfterMs}.`);
      const count = proxy.requests.length;
      await t.session.clock.sleep(100);
      expect(proxy.requests.length === count, "The driver sends requests after the end of the call.");
    }
  },

  "errors.unreachable-cloud": async (t) => {
    const endpoint = t.needs(t.fixture.endpoint, "the endpoint of the cloud");
    const { proxy, caller } = await t.behindProxy();
    const before = new Set(t.session.created.keys());
    const secure = proxy.url.startsWith("https:");
    const places: readonly (readonly [string, string])[] = [
      ["refuses connections", `${secure ? "https" : "http"}://127.0.0.1:9`],
      ["has an unknown host", `${secure ? "https" : "http"}://mwc-unknown.invalid`],
      ["speaks no TLS", proxy.url.replace(/^https?:/, secure ? "http:" : "https:")],
    ];
    for (const [what, url] of places) {
      t.session.allowedHosts?.add(new URL(url).hostname);
      const { driver, machineClass, secret } = endpoint.through(url);
      const unreachable = caller.with({
        driver: (await driver) ?? (await t.newDriver()),
        ...(machineClass === undefined ? {} : { machineClass }),
        ...(secret === undefined
          ? {}
          : { secret: t.session.protect({ userData: t.session.userData.reveal(), ...secret }) }),
      });
      // A driver may reject an address that it does not support.
      const codes: readonly MachineErrorCode[] = ["Unavailable", "DeadlineExceeded", "InvalidArgument"];
      for (const { name, call } of methodCalls(t)) {
        await expectFailure(
          `${name} of a cloud that ${what}`,
          call(unreachable, { deadlineMs: faultDeadlineMs }),
          ...codes,
        );
      }
    }
    // Their class may name a place that does not exist, where nothing can be deleted.
    for (const uid of t.session.created.keys()) if (!before.has(uid)) t.session.created.delete(uid);
  },

  "errors.unreadable-answers": async (t) => {
    for (const status of [200, 404, 502])
      await whileAllFail(t, `a proxy answers ${status} with a page`, htmlPage(status), openCodes);
    for (const { name, call } of methodCalls(t)) {
      if (name !== "getMachineStatus" && name !== "listMachines") continue;
      const { caller, proxy } = await t.behindProxy();
      proxy.plan(() => ({ kind: "truncate" }));
      await expectFailure(
        `${name}, if answers are truncated,`,
        call(caller, { deadlineMs: faultDeadlineMs }),
        ...openCodes,
      );
    }
  },

  "errors.large-answer": async (t) => {
    const { caller, proxy } = await t.behindProxy();
    proxy.plan((index) => (index === 0 ? { kind: "large", bytes: largeMiB * mebibyte } : undefined));
    let failure: unknown;
    try {
      await caller.status(t.machine());
    } catch (error) {
      failure = error;
    }
    const readMiB = Math.round(proxy.largeBytes / mebibyte);
    expect(
      readMiB <= mostMiB,
      `The driver reads ${readMiB} MiB of an answer of ${largeMiB} MiB: ${describeError(failure)}`,
    );
  },

  "errors.slow-answer": async (t) => {
    const { caller, proxy } = await t.behindProxy();
    proxy.plan(() => ({ kind: "slow" }));
    const call = caller.status(t.machine(), { deadlineMs: 1_000 });
    await expectFailure("A call whose answer never ends", call, ...openCodes);
  },
} as const satisfies CheckTable;
