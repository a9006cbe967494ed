import { connect } from "node:net";
import { hasMachineErrorCode, MachineError } from "@millwright/core";
import type { BrokenDriver } from "./broken-driver.ts";

/** A call that never learns of its abort. */
const deaf = <Context extends { readonly signal: AbortSignal }>(context: Context): Context => ({
  ...context,
  signal: new AbortController().signal,
});

const kibibyte = 1_024;

/** Mistakes that concern every call. */
export const brokenCalls: readonly BrokenDriver[] = [
  {
    mistake: "ignores the abort signal",
    violates: ["calls.cancellation", "calls.deadline", "errors.slow-answer"],
    change: () => ({
      methods: (right) => ({
        getMachineStatus: (request, context) => right.getMachineStatus(request, deaf(context)),
      }),
    }),
  },
  {
    mistake: "does not resolve a deletion that it is asked to abort",
    violates: ["calls.cancellation"],
    change: () => ({
      methods: (right) => ({
        deleteMachine: (request, context) =>
          context.signal.aborted ? new Promise(() => undefined) : right.deleteMachine(request, context),
      }),
    }),
  },
  {
    mistake: "reports a passed deadline as Internal",
    violates: ["calls.deadline", "errors.slow-answer"],
    change: () => ({
      methods: (right) => ({
        async getMachineStatus(request, context) {
          try {
            return await right.getMachineStatus(request, context);
          } catch (error) {
            if (context.signal.aborted) throw new MachineError("Internal", "fetch failed", { cause: error });
            throw error;
          }
        },
      }),
    }),
  },
  {
    mistake: "calls back twice",
    violates: ["calls.settle-once"],
    change: () => ({
      methods: (right) => ({
        createMachine: (request, context) => twice(right.createMachine(request, context)),
      }),
    }),
  },
  {
    mistake: "lets a rejected promise float",
    violates: ["calls.no-stray-errors"],
    change: () => ({
      methods: (right) => ({
        async initializeMachine(request, context) {
          void Promise.reject(new Error("nothing waits for this"));
          return (await right.initializeMachine?.(request, context)) ?? { providerId: "", nodeName: "" };
        },
      }),
    }),
  },
  {
    mistake: "returns what the contract does not declare",
    violates: ["calls.replies-are-valid"],
    change: () => ({
      methods: (right) => ({
        async deleteMachine(request, context) {
          return Object.assign({}, await right.deleteMachine(request, context), JSON.parse('{"vm":"gone"}'));
        },
      }),
    }),
  },
  {
    mistake: "writes messages of a page",
    violates: ["errors.are-machine-errors"],
    change: () => ({
      steps: (right) => ({
        errorOf(...args) {
          const { code, message, retryAfterMs } = right.errorOf(...args);
          const text = code === "InvalidArgument" ? `${message}${" ".repeat(8 * kibibyte)}.` : message;
          return new MachineError(code, text, retryAfterMs === undefined ? {} : { retryAfterMs });
        },
      }),
    }),
  },
  {
    mistake: "reports failures of the cloud as Internal",
    violates: ["errors.status-codes", "errors.unreadable-answers"],
    change: () => ({
      steps: (right) => ({
        errorOf(status, body, retryAfter) {
          const error = right.errorOf(status, body, retryAfter);
          return status === 500 || status === 502 ? new MachineError("Internal", error.message) : error;
        },
      }),
    }),
  },
  {
    mistake: "does not read Retry-After",
    violates: ["errors.retry-after"],
    change: () => ({ steps: (right) => ({ errorOf: (status, body) => right.errorOf(status, body, null) }) }),
  },
  {
    mistake: "reports an unreachable cloud as NotFound",
    violates: ["errors.unreachable-cloud", "errors.unreadable-answers"],
    change: () => ({
      steps: (right) => ({
        async send(...args) {
          try {
            return await right.send(...args);
          } catch (error) {
            if (!(error instanceof MachineError) || !error.message.includes("unreachable")) throw error;
            throw new MachineError("NotFound", "the VM cannot be found");
          }
        },
      }),
    }),
  },
  {
    mistake: "takes every 404 for a missing VM",
    violates: ["errors.unreadable-answers"],
    change: () => ({
      steps: (right) => ({
        errorOf: (status, body, retryAfter) =>
          status === 404 && body === undefined
            ? new MachineError("NotFound", "there is no VM")
            : right.errorOf(status, body, retryAfter),
      }),
    }),
  },
  {
    mistake: "logs its token at level debug",
    violates: ["secrets.never-printed"],
    change: () => ({
      steps: (right) => ({
        send(call, method, path, body) {
          call.context.log("debug", "A request is sent", { headers: { authorization: right.accessToken(call) } });
          return right.send(call, method, path, body);
        },
      }),
    }),
  },
  {
    mistake: "repeats its token in an error",
    violates: ["secrets.never-printed"],
    change: () => ({
      steps: (right) => ({
        async send(call, method, path, body) {
          try {
            return await right.send(call, method, path, body);
          } catch (error) {
            if (!(error instanceof MachineError) || error.code !== "Unauthenticated") throw error;
            throw new MachineError(error.code, `the token ${right.accessToken(call)} is wrong`);
          }
        },
      }),
    }),
  },
  {
    mistake: "keeps the first token",
    violates: ["secrets.rotation", "secrets.not-mixed"],
    change: () => ({
      steps: (right) => {
        let token: string | undefined;
        return { accessToken: (call) => (token ??= right.accessToken(call)) };
      },
    }),
  },
  {
    mistake: "remembers rejected credentials",
    violates: ["secrets.expired-token"],
    change: () => ({
      methods: (right) => {
        const rejected = new Set<string>();
        return {
          async getMachineStatus(request, context) {
            const token = request.secret["token"]?.reveal() ?? "";
            if (rejected.has(token)) throw new MachineError("Unauthenticated", "the credentials were rejected before");
            return right.getMachineStatus(request, context).catch((error: unknown) => {
              if (hasMachineErrorCode(error, "Unauthenticated")) rejected.add(token);
              throw error;
            });
          },
        };
      },
    }),
  },
  {
    mistake: "keeps the token of the latest call",
    violates: ["secrets.not-mixed"],
    change: () => ({
      steps: (right) => {
        let latest = "";
        return {
          accessToken: () => latest,
          async send(call, ...request) {
            latest = right.accessToken(call);
            await new Promise((resolve) => setImmediate(resolve));
            return right.send(call, ...request);
          },
        };
      },
    }),
  },
  {
    mistake: "asks the metadata service",
    violates: ["network.declared-hosts-only"],
    change: () => ({
      methods: (right) => ({
        getMachineStatus(request, context) {
          const socket = connect({ host: "169.254.169.254", port: 80 });
          socket.on("error", () => undefined);
          socket.destroy();
          return right.getMachineStatus(request, context);
        },
      }),
    }),
  },
  {
    mistake: "keeps every request",
    violates: ["load.no-leaks"],
    change: () => {
      const kept: { readonly name: string; readonly sizes: readonly number[] }[] = [];
      return {
        methods: (right) => ({
          getMachineStatus(request, context) {
            // Numbers, 32 KiB of them: the garbage collector has no pointers to follow.
            kept.push({
              name: request.machine.name,
              sizes: Array.from({ length: 4 * kibibyte }, (_, index) => index + 0.5),
            });
            return right.getMachineStatus(request, context);
          },
        }),
      };
    },
  },
  {
    mistake: "gives deletions up after one that failed",
    violates: ["load.random-faults"],
    change: () => ({
      methods: (right) => {
        let hasFailed = false;
        return {
          deleteMachine(request, context) {
            if (hasFailed) return Promise.resolve({ vm: "missing" });
            return right.deleteMachine(request, context).catch((error: unknown) => {
              hasFailed = hasMachineErrorCode(error, "Unavailable");
              throw error;
            });
          },
        };
      },
    }),
  },
  {
    mistake: "leaves a disk of its own",
    violates: ["run.nothing-left"],
    change: () => {
      let isDone = false;
      return {
        steps: (right) => ({
          async send(call, method, path, body) {
            if (method === "GET" && path.startsWith("/vms") && !isDone) {
              isDone = true;
              await right.send(call, "POST", "/disks", { token: "probe", machine: "probe" });
            }
            return right.send(call, method, path, body);
          },
        }),
      };
    },
  },
];

/** A thenable that reports its outcome twice. */
function twice<T>(call: Promise<T>): Promise<T> {
  return new Proxy(call, {
    getPrototypeOf: () => Object.prototype,
    get: (target, key) =>
      key === "then"
        ? (onResolved: (value: T) => unknown, onRejected: (error: unknown) => unknown) =>
            target.then((value) => [onResolved(value), onResolved(value)], onRejected)
        : Reflect.get(target, key),
  });
}
