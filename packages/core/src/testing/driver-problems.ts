import type { Driver } from "../driver/driver.ts";
import { checkDriverSecret, readProviderSpec } from "../driver/read-provider-spec.ts";
import { secretOf } from "./driver-call.ts";

/** The problems of a `providerSpec`: `path: message`, one line each. Empty for a valid one. */
export async function specProblems<Spec>(
  driver: Pick<Driver<Spec>, "name" | "spec">,
  providerSpec: unknown,
): Promise<readonly string[]> {
  const read = await readProviderSpec(driver, { providerSpec });
  return read.ok ? [] : read.problems.map(({ path, message }) => `${path}: ${message}`);
}

/** The problems of a class secret: `path: message`, one line each. Empty for a valid one. */
export async function secretProblems(
  driver: Pick<Driver, "name" | "secret">,
  data: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const checked = await checkDriverSecret(driver, secretOf(data));
  return checked.ok ? [] : checked.problems.map(({ path, message }) => `${path}: ${message}`);
}
