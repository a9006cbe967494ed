import type { SecretData } from "@millwright/base";
import {
  type ClassIdentity,
  type Driver,
  MachineError,
  readProviderSpec,
  readSpecOfVm,
  type StandardSchemaV1,
} from "@millwright/core";
import { checkDriverSecret, checkSecretWithoutUserData, type StandardSchemaIssue } from "@millwright/core/driver-host";
import { formatProblems } from "@millwright/core/machine-api";
import { parseJson } from "../wire/json-text.ts";
import type { WireClass, WireProblem, WireValidateRequest, WireValidateResponse } from "../wire/messages.ts";
import { fromWireClass, fromWireSecret } from "../wire/requests.ts";

/** What a call reads a class for: only a creation needs user data, and what finds or deletes a VM needs no valid class. */
export type ClassReading = "creation" | "other" | "existingVm";

const readers = {
  creation: { readSpec: readProviderSpec, checkSecret: checkDriverSecret },
  other: { readSpec: readProviderSpec, checkSecret: checkSecretWithoutUserData },
  existingVm: { readSpec: readSpecOfVm, checkSecret: checkSecretWithoutUserData },
} as const;

/**
 * Has a driver read the class of a request.
 *
 * @throws MachineError InvalidArgument with every problem and its path
 */
export async function readWireClass(
  driver: Driver,
  wire: WireClass | undefined,
  secret: SecretData,
  reading: ClassReading,
): Promise<ClassIdentity<unknown>> {
  const machineClass = fromWireClass(wire);
  const subject = `MachineClass "${machineClass.name}"`;
  const { readSpec, checkSecret } = readers[reading];
  const spec = await readSpec(driver, { providerSpec: parseJson(wire?.providerSpec) });
  if (!spec.ok) throw new MachineError("InvalidArgument", `${subject}: ${formatProblems(spec.problems)}`);
  const checked = await checkSecret(driver, secret);
  if (!checked.ok)
    throw new MachineError("InvalidArgument", `Secret of ${subject}: ${formatProblems(checked.problems)}`);
  return { ...machineClass, spec: spec.spec };
}

const toProblem = (issue: StandardSchemaIssue, inSecret: boolean): WireProblem => ({
  path: (issue.path ?? []).map((segment) => String(typeof segment === "object" ? segment.key : segment)),
  message: issue.message,
  ...(inSecret ? { inSecret } : {}),
});

/** The issues that the schema of a driver has with a value, as it reports them. */
async function problemsOf(
  schema: StandardSchemaV1,
  value: unknown,
  inSecret: boolean,
): Promise<readonly WireProblem[]> {
  try {
    const { issues = [] } = await schema["~standard"].validate(value);
    return issues.map((issue) => toProblem(issue, inSecret));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [{ path: [], message: `cannot be validated: the driver's schema failed: ${reason}`, inSecret }];
  }
}

/** Checks a class, and its secret, as a driver reads them. Never throws. */
export async function validateWireClass(driver: Driver, request: WireValidateRequest): Promise<WireValidateResponse> {
  const problems: WireProblem[] = [];
  const { providerSpec: text, checkSecret, forExistingVm } = request;
  if (text !== undefined) {
    const providerSpec = parseJson(text);
    const isReadable = forExistingVm === true && (await readSpecOfVm(driver, { providerSpec })).ok;
    if (!isReadable) problems.push(...(await problemsOf(driver.spec, providerSpec, false)));
  }
  if (checkSecret === true && driver.secret !== undefined) {
    const secret = Object.entries(fromWireSecret(request.secret)).map(([key, value]) => [key, value.reveal()]);
    problems.push(...(await problemsOf(driver.secret, Object.fromEntries(secret), true)));
  }
  return { problems };
}
