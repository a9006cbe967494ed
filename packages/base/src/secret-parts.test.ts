import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodedForms } from "./encoded-forms.ts";
import { redactSecrets } from "./redact-secrets.ts";
import { Secret } from "./secret.ts";
import { secretParts } from "./secret-parts.ts";

const canary = "canary-7f3a9c0d5e1b";
const short = "s3cr3t-p4";
const base64 = (text: string): string => Buffer.from(text).toString("base64");

const structures: readonly (readonly [string, string])[] = [
  ["nested JSON", JSON.stringify({ a: { b: [{ c: canary }] }, password: short })],
  ["a JSON list", JSON.stringify(["x", [canary], { apiKey: short }])],
  ["JSON within JSON", JSON.stringify({ a: JSON.stringify({ b: canary, token: short }) })],
  ["JSON that was cut off", `{"a": {"b": "${canary}", "token": "${short}", "c`],
  ["a kubeconfig", `apiVersion: v1\nusers:\n- name: me\n  user:\n    token: ${canary}\n    password: ${short}\n`],
  [
    "client-key-data of a kubeconfig",
    `users:\n- user: {client-key-data: ${base64(`-----BEGIN\n${canary}\n`)}, token: ${short}}`,
  ],
  [
    "clouds.yaml",
    `clouds:\n  openstack:\n    auth:\n      password: "${short}"\n      application_credential_id: '${canary}'\n`,
  ],
  ["an INI file", `[default]\naws_access_key_id = ${short}\naws_session_token=${canary}\n`],
  ["an env file", `# x\nexport AWS_SECRET="${canary}"\nPASSWORD=${short}\r\n`],
  [
    "a cloud-config",
    `#cloud-config\nchpasswd:\n  users:\n  - {name: root, password: ${short}}\nruncmd:\n- ${canary}\n`,
  ],
  [
    "options of a command",
    `runcmd:\n- kubeadm join 10.0.0.1:6443 --token=${short} --discovery-token-ca-cert-hash sha256:${canary}`,
  ],
  [
    "a Docker configuration",
    JSON.stringify({ auths: { "reg.example": { auth: base64(`me:${short}`), identitytoken: canary } } }),
  ],
  ["the address of a database", `url: postgres://me:${short}@db.example:5432/x\nother: ${canary}`],
];

describe("secretParts", () => {
  it.each(structures)("has the values of %s, and of confidential fields also short ones", (_name, text) => {
    const clean = redactSecrets(`got ${canary}, then ${short}!`, { config: Secret.of(text) });
    expect(clean).toBe("got [redacted], then [redacted]!");
  });

  it("has no names and switches, and no addresses without a user", () => {
    const text =
      "region: eu-west-1\nurl: https://auth.example.com/token/endpoint\ntype: service_account\nlock_passwd: true\n";
    const message = "eu-west-1 has no service_account at https://auth.example.com/token/endpoint";
    expect(redactSecrets(message, { config: Secret.of(text) })).toBe(message);
  });

  it("reads long texts without structure, and those that look like one, in time that grows with their length", () => {
    for (const unit of ["a", " ", "a.", "a: ", "- ", '"', "a=b ", "{", "x://", 'a:\\"', "AAAA"])
      expect(secretParts(unit.repeat(100_000 / unit.length)).length).toBeLessThanOrEqual(200);
  });

  it("hides each leaf of random structures in all encodings, by whatever it is written", () => {
    const leaf = fc.string({
      minLength: 16,
      maxLength: 60,
      unit: fc.constantFrom(..."abcdefXYZ0123456789_-+/".split("")),
    });
    const word = fc.stringMatching(/^[a-z_]{1,12}$/);
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.array(tie("tree"), { minLength: 1, maxLength: 3 }),
        fc.dictionary(word, tie("tree"), { minKeys: 1, maxKeys: 3 }),
      ),
    }));
    const leavesIn = (value: unknown): readonly string[] =>
      typeof value === "string" ? [value] : Object.values(value ?? {}).flatMap(leavesIn);
    const yaml = (value: unknown, indent: string): string =>
      typeof value === "string"
        ? ` ${value}\n`
        : `\n${Object.entries(value ?? {})
            .map(([key, each]) => `${indent}${Array.isArray(value) ? "-" : `${key}:`}${yaml(each, `${indent}  `)}`)
            .join("")}`;
    const flat = (value: unknown): string =>
      leavesIn(value)
        .map((each, index) => `NAME_${index}=${each}`)
        .join("\n");
    const writers = [
      JSON.stringify,
      (value: unknown) => JSON.stringify(value, null, 2),
      (value: unknown) => yaml(value, ""),
      flat,
    ];
    fc.assert(
      fc.property(tree, fc.constantFrom(...writers), (value, write) => {
        const secrets = { config: Secret.of(write(value)) };
        for (const each of leavesIn(value).slice(0, 5))
          for (const form of [each, JSON.stringify(each), ...encodedForms(Buffer.from(each))])
            expect(redactSecrets(`got ${form}!`, secrets)).not.toContain(form.replaceAll('"', ""));
      }),
      { numRuns: 50 },
    );
  });
});
