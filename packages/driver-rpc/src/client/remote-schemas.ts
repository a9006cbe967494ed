import type { StandardSchemaV1 } from "@millwright/core";
import type { StandardSchemaIssue } from "@millwright/core/driver-host";
import { toJson } from "../wire/json-text.ts";
import type { WireProblem, WireValidateRequest } from "../wire/messages.ts";

/** Has the driver check a class; undefined when it cannot be asked. */
export type ValidateRemotely = (request: WireValidateRequest) => Promise<readonly WireProblem[] | undefined>;

/** As many specs as an installation has classes, and their former versions. */
const MAX_REMEMBERED = 500;

const toIssue = ({ path = [], message = "" }: WireProblem): StandardSchemaIssue => ({ message, path });

/**
 * The schema of providerSpec: the driver validates, and reads the spec again with every call, so the spec stays as the user wrote it. A driver that cannot be reached rejects
 * no class: the call that follows fails with `Unavailable` then. A class is validated once, until the driver connects again.
 */
export function remoteSpecSchema(
  validate: ValidateRemotely,
  forExistingVm: boolean,
  generation: () => number,
): StandardSchemaV1<unknown, unknown> {
  const remembered = new Map<string, readonly StandardSchemaIssue[]>();
  let of = -1;
  const issuesOf = async (providerSpec: string): Promise<readonly StandardSchemaIssue[]> => {
    if (of !== generation()) remembered.clear();
    of = generation();
    const present = remembered.get(providerSpec);
    if (present !== undefined) return present;
    const problems = await validate({ providerSpec, ...(forExistingVm ? { forExistingVm } : {}) });
    if (problems === undefined) return [];
    const issues = problems.filter(({ inSecret }) => inSecret !== true).map(toIssue);
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    remembered.set(providerSpec, issues);
    return issues;
  };
  return {
    "~standard": {
      version: 1,
      vendor: "millwright",
      validate: async (value) => {
        const issues = await issuesOf(toJson(value));
        return issues.length === 0 ? { value } : { issues };
      },
    },
  };
}

/** The schema of the class secret. Secrets are not remembered. */
export const remoteSecretSchema = (validate: ValidateRemotely): StandardSchemaV1<unknown, unknown> => ({
  "~standard": {
    version: 1,
    vendor: "millwright",
    validate: async (value) => {
      const texts = Object.entries(value ?? {}).map(([key, text]) => [key, Buffer.from(String(text))]);
      const problems = await validate({ secret: Object.fromEntries(texts), checkSecret: true });
      const issues = (problems ?? []).filter(({ inSecret }) => inSecret === true).map(toIssue);
      return issues.length === 0 ? { value } : { issues };
    },
  },
});
