import { ApiError } from "@millwright/kube";
import type { RandomEvents, Stage } from "./stage.ts";

/** What may happen to the cloud and to the API server. `let` ends a `hold` of the cloud's answers. */
export function outsideFaults({ api, driver, below, oneOf, chance }: Stage): RandomEvents {
  let release = (): void => {};
  return {
    fail: () =>
      driver.fail(
        oneOf(["ensureVm", "findVm", "deleteVm"] as const) ?? "ensureVm",
        oneOf(["ResourceExhausted", "Unavailable", "InvalidArgument", "Internal", "NotFound"] as const) ?? "Internal",
        1 + below(8),
      ),
    exhaust: () => driver.fail("ensureVm", "ResourceExhausted", 4 + below(20)),
    fix: () => void (driver.faults.length = 0),
    hold: () => {
      release();
      release = driver.hold();
    },
    let: () => release(),
    fault: () =>
      api.inject({
        verb: oneOf(["patch", "create", "delete"] as const) ?? "patch",
        error:
          oneOf([
            new ApiError({ status: 500, reason: "InternalError", message: "fault" }),
            new ApiError({ status: 409, reason: "Conflict", message: "changed" }),
            new ApiError({ status: 0, reason: "Unreachable", message: "no route" }),
          ]) ?? new Error("none"),
        times: 1 + below(4),
        phase: chance(0.3) ? "after" : "before",
      }),
    longFault: () =>
      api.inject({
        verb: oneOf(["patch", "create"] as const) ?? "patch",
        error: new ApiError({ status: 403, reason: "Forbidden", message: "not allowed" }),
        times: 5 + below(20),
      }),
    away: () => {
      const error = new ApiError({ status: 0, reason: "Unreachable", message: "no route" });
      api.inject({ verb: "watch", error, times: 10 * below(12) });
      api.endWatches();
    },
  };
}
