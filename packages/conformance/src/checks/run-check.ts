import type { CheckResult } from "../report/check-result.ts";
import type { KnownRule } from "../rules/registry.ts";
import type { CheckEnd } from "../session/outcome.ts";
import type { Session } from "../session/session.ts";
import { createCheckContext, describeError, outcomeOf } from "./check.ts";
import { removeCompletely } from "./faults.ts";
import { checks } from "./registry.ts";

const isCheckEnd = (error: unknown): error is CheckEnd => error instanceof Error && error.name === "CheckEnd";

/** Why a rule does not hold; undefined if it does. */
function exemption({ driver, fixture }: Session, { capability, trait }: KnownRule): string | undefined {
  if (capability !== undefined && !driver.capabilities[capability])
    return `The driver does not have the capability ${capability}.`;
  const lack = trait === undefined ? undefined : fixture.lacks?.[trait];
  return lack === undefined ? undefined : `The cloud lacks ${trait}: ${lack}`;
}

/** Runs the checks of a session, one at a time. */
export function createCheckRunner(session: Session): (rule: KnownRule) => Promise<CheckResult> {
  let number = 0;
  return async (rule) => {
    const startedMs = session.clock.monotonicMs();
    const result = (status: CheckResult["status"], reason = ""): CheckResult => ({
      rule,
      status,
      reason,
      durationMs: Math.round(session.clock.monotonicMs() - startedMs),
    });
    const exempt = exemption(session, rule);
    if (exempt !== undefined) return result("notApplicable", exempt);
    if (session.stopped !== undefined && rule.id !== "run.nothing-left") return result("skipped", session.stopped);
    const { context, end } = createCheckContext(session, () => ++number);
    try {
      await checks[rule.id](context);
      return result("passed");
    } catch (error) {
      if (isCheckEnd(error)) return result(error.kind, error.message);
      return result("failed", `A call fails with ${describeError(error)}`);
    } finally {
      (await session.proxy())?.plan();
      await cleanUp(session, context, end, rule);
      await stopIfTooMany(session);
    }
  };
}

/** Stops a run in a real cloud that leaves more VMs than may exist at once: a driver that leaks would cost more with each check. */
async function stopIfTooMany(session: Session): Promise<void> {
  const { profile, caller, namePrefix } = session;
  if (profile.sweepAfterMs === undefined || caller.target.driver.listMachines === undefined) return;
  const listed = await outcomeOf(caller.list());
  if (!listed.ok) return;
  const left = listed.value.filter(({ machineName }) => machineName.startsWith(namePrefix)).length;
  if (left > profile.maxVms)
    session.stopped ??= `The run was stopped: it left ${left} VMs, more than ${profile.maxVms}.`;
}

const cleanUpAttempts = 3;

/** Ends what a check staged, and deletes its VMs. One that cannot be deleted does not keep the others. */
async function cleanUp(
  session: Session,
  context: ReturnType<typeof createCheckContext>["context"],
  end: () => Promise<void>,
  { id }: KnownRule,
): Promise<void> {
  const problems: string[] = [];
  const attempt = async (act: () => Promise<unknown>, attempts: number): Promise<void> => {
    try {
      await act();
    } catch (error) {
      if (attempts > 1) await attempt(act, attempts - 1);
      else problems.push(describeError(error));
    }
  };
  await attempt(end, 1);
  for (const { machine, caller } of session.created.values()) {
    const { machineClass } = caller.target;
    const without = { ...context, vmsOf: () => Promise.resolve([]) };
    await attempt(() => removeCompletely(without, machine, session.caller.with({ machineClass })), cleanUpAttempts);
  }
  session.created.clear();
  for (const problem of problems)
    session.violations.add("run.nothing-left", `The VMs of ${id} could not be deleted: ${problem}.`);
}
