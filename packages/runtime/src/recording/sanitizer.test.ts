import { gzipSync } from "node:zlib";
import { encodedForms, Secret, type SecretData } from "@millwright/base";
import type { CloudExchange } from "@millwright/core";
import { expect, test } from "vitest";
import { createSanitizer } from "./sanitizer.ts";

const secretOf = (data: Readonly<Record<string, string>>): SecretData =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Secret.of(value)]));

const exchange = (part: Partial<CloudExchange>): CloudExchange => ({
  method: "POST",
  url: "https://ec2.eu-west-1.amazonaws.com/",
  requestHeaders: {},
  requestBody: "",
  seconds: 0.1,
  ...part,
});

/** A value that contains everything that an encoding changes. */
const canary = 'canary "q" <a>&b\n\\x+/=?\tünï 0123456789abcdef';
const userData = `#!/bin/sh\n# ${canary}\nkubeadm join --token abcdef.0123456789abcdef\n`;

/** Where a cloud, an SDK or a driver may put a value. */
const places: Readonly<Record<string, (value: string) => Partial<CloudExchange>>> = {
  "as it is": (value) => ({ responseBody: `the value ${value} is wrong` }),
  "a JSON field": (value) => ({ requestBody: JSON.stringify({ deep: [{ field: value }] }) }),
  "JSON within JSON": (value) => ({ requestBody: JSON.stringify({ field: JSON.stringify({ value }) }) }),
  "a form": (value) => ({ requestBody: new URLSearchParams({ Action: "RunInstances", Field: value }).toString() }),
  "a query": (value) => ({ url: `https://host/path?field=${encodeURIComponent(value)}` }),
  "a path": (value) => ({ url: `https://host/${encodeURIComponent(value)}/path` }),
  base64: (value) => ({ requestBody: JSON.stringify({ field: Buffer.from(value).toString("base64") }) }),
  "base64 in a form": (value) => ({
    requestBody: new URLSearchParams({ A: "1", Data: Buffer.from(value).toString("base64") }).toString(),
  }),
  "base64 of something larger": (value) => ({
    requestBody: Buffer.from(`Content-Type: text\n\n${value}\n--end`).toString("base64"),
  }),
  "base64 of something larger by one": (value) => ({ requestBody: Buffer.from(`x${value}yz`).toString("base64") }),
  "base64 of something larger by two": (value) => ({ requestBody: Buffer.from(`xy${value}z`).toString("base64") }),
  base64url: (value) => ({ responseBody: Buffer.from(value).toString("base64url") }),
  hexadecimal: (value) => ({ responseBody: Buffer.from(value).toString("hex") }),
  XML: (value) => ({
    responseBody: `<Message>${value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")}</Message>`,
  }),
  "a kept header": (value) => ({ responseHeaders: { location: `https://host/?v=${encodeURIComponent(value)}` } }),
  "another header": (value) => ({ requestHeaders: { authorization: `Bearer ${value}`, cookie: value } }),
};

test.each(Object.entries(places))("leaves no secret in %s", (_, place) => {
  const sanitizer = createSanitizer();
  sanitizer.protect(secretOf({ clientSecret: canary, userData }));
  for (const value of [canary, userData]) {
    const clean = JSON.stringify(sanitizer.sanitize(exchange(place(value))));
    const forms = encodedForms(Buffer.from(value)).filter((form) => form.length >= 8);
    expect([...forms, "0123456789abcdef", "kubeadm join"].filter((form) => clean.includes(form))).toEqual([]);
  }
});

test("removes values of fields by their names, although they are not known as secrets", () => {
  const clean = createSanitizer().sanitize(
    exchange({
      requestBody: "Action=AssumeRoleWithWebIdentity&WebIdentityToken=eyJhbGciOi&RoleSessionName=millwright",
      responseBody:
        "<Credentials><AccessKeyId>ASIAEXAMPLE</AccessKeyId><SecretAccessKey>wJalrXUtnFEMI</SecretAccessKey><SessionToken>FwoGZXIvYXdz</SessionToken></Credentials>",
    }),
  );
  expect(clean.requestBody).toBe(
    "Action=AssumeRoleWithWebIdentity&WebIdentityToken=%3Ctoken-1%3E&RoleSessionName=millwright",
  );
  expect(clean.responseBody).toBe(
    "<Credentials><AccessKeyId>&lt;key-1&gt;</AccessKeyId><SecretAccessKey>&lt;secret-1&gt;</SecretAccessKey><SessionToken>&lt;token-2&gt;</SessionToken></Credentials>",
  );
});

test("takes out a token that was given out wherever it comes again", () => {
  const sanitizer = createSanitizer();
  sanitizer.sanitize(exchange({ responseBody: '{"access_token":"ya29.a0AfH6SMB"}' }));
  const { requestBody } = sanitizer.sanitize(exchange({ requestBody: '{"echo":"ya29.a0AfH6SMB"}' }));
  expect(requestBody).toBe('{"echo":"<token-1>"}');
});

test("takes out user data that was compressed before it was encoded, by its field", () => {
  const customData = gzipSync(userData).toString("base64");
  const { requestBody } = createSanitizer().sanitize(
    exchange({ requestBody: JSON.stringify({ osProfile: { customData } }) }),
  );
  expect(requestBody).toBe('{"osProfile":{"customData":"<user-data-1>"}}');
});

test.each<readonly [string, Partial<CloudExchange>, string]>([
  [
    "accounts of AWS",
    { responseBody: "<ownerId>123456789012</ownerId><arn>arn:aws:iam::123456789012:role/x</arn>" },
    "<ownerId><account-1></ownerId><arn>arn:aws:iam::<account-1>:role/x</arn>",
  ],
  [
    "subscriptions and tenants of Azure, in any case of their letters",
    {
      url: "https://management.azure.com/subscriptions/AB12-cd/resourceGroups/g",
      responseBody: '{"id":"/subscriptions/ab12-CD/x","tenantId":"11-22"}',
    },
    '{"id":"/subscriptions/<subscription-1>/x","tenantId":"<tenant-1>"}',
  ],
  [
    "projects and service accounts of Google",
    {
      responseBody:
        '{"selfLink":"https://compute/compute/v1/projects/my-project/zones/z","email":"m@my-project.iam.gserviceaccount.com","name":"not-my-projects"}',
    },
    '{"selfLink":"https://compute/compute/v1/projects/<project-1>/zones/z","email":"<service-account-1>","name":"not-my-projects"}',
  ],
])("takes out %s", (_, part, expected) => {
  expect(createSanitizer().sanitize(exchange(part)).responseBody).toBe(expected);
});

test("gives the same value the same name, and others another one", () => {
  const sanitizer = createSanitizer();
  const bodyOf = (account: string) =>
    sanitizer.sanitize(exchange({ responseBody: `<ownerId>${account}</ownerId>` })).responseBody;
  expect([bodyOf("111111111111"), bodyOf("222222222222"), bodyOf("111111111111")]).toEqual([
    "<ownerId><account-1></ownerId>",
    "<ownerId><account-2></ownerId>",
    "<ownerId><account-1></ownerId>",
  ]);
});

test("keeps what shows how the cloud behaves", () => {
  const sanitizer = createSanitizer();
  sanitizer.protect(
    secretOf({ accessKeyID: "AKIAEXAMPLE", secretAccessKey: "wJalrXUtnFEMI", flag: "true", userData: "" }),
  );
  const given = exchange({
    requestHeaders: { "content-type": "application/json" },
    requestBody: '{"location":"westeurope","enabled":true,"count":3,"tags":{"Name":"machine-1"}}',
    status: 201,
    responseHeaders: { "retry-after": "5" },
    responseBody: '{"properties":{"provisioningState":"Creating","vmId":"0f0e"},"zones":["1"]}',
  });
  expect(sanitizer.sanitize(given)).toEqual(given);
});
