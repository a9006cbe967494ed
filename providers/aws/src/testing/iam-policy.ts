import { readFileSync } from "node:fs";

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
const [, text = "{}"] = /## Permissions\n+```json\n(.*?)```/s.exec(readme) ?? [];

interface Policy {
  readonly Statement?: readonly { readonly Sid?: string; readonly Action: string | readonly string[] }[];
}
const policy: Policy = JSON.parse(text);

/** The actions that the README's IAM policy allows. */
export const allowedActions: ReadonlySet<string> = new Set(
  (policy.Statement ?? []).flatMap(({ Action }) => (typeof Action === "string" ? [Action] : [...Action])),
);

/** Those of them that only `checkClass` needs. */
export const actionsOnlyForDoctor: ReadonlySet<string> = new Set(
  (policy.Statement ?? []).flatMap(({ Sid, Action }) => (Sid === "OnlyForDoctor" ? [Action].flat() : [])),
);

/** An exchange of tokens is not signed: the trust policy of the role decides. */
const needsNoPolicy = "AssumeRoleWithWebIdentity";

/** The action that a request needs; undefined for one that needs none. */
export const actionOf = (operation: string): string | undefined =>
  operation === needsNoPolicy ? undefined : `ec2:${operation}`;
