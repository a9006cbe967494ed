import { execFile } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

/** What the API server is started with and what an administrator shows it. None of it is ever printed. */
export interface Credentials {
  readonly adminToken: string;
  readonly tokenFile: string;
  readonly serviceAccountKey: string;
  readonly serviceAccountPublicKey: string;
  /** An administrator's certificate and the authority behind it; undefined where there is no openssl to make them. */
  readonly client: ClientCertificate | undefined;
}

/** A client certificate in PEM. */
export interface ClientCertificate {
  readonly authorityFile: string;
  readonly certificate: string;
  readonly key: string;
}

const secretFile = { mode: 0o600 };

/** Makes new credentials in a folder that only we can read. `tokens` are those of more users, by their names. */
export async function createCredentials(
  folder: string,
  tokens: Readonly<Record<string, string>> = {},
): Promise<Credentials> {
  const adminToken = randomBytes(24).toString("hex");
  const tokenFile = join(folder, "tokens.csv");
  const others = Object.entries(tokens).map(([user, token]) => `${token},${user},${user}\n`);
  await writeFile(tokenFile, `${adminToken},admin,admin,"system:masters"\n${others.join("")}`, secretFile);
  const { publicKey, privateKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  const serviceAccountKey = join(folder, "service-account.key");
  const serviceAccountPublicKey = join(folder, "service-account.pub");
  await writeFile(serviceAccountKey, privateKey, secretFile);
  await writeFile(serviceAccountPublicKey, publicKey, secretFile);
  const client = await createClientCertificate(folder);
  return { adminToken, tokenFile, serviceAccountKey, serviceAccountPublicKey, client };
}

const run = promisify(execFile);

async function createClientCertificate(folder: string): Promise<ClientCertificate | undefined> {
  const file = (name: string): string => join(folder, name);
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const authority = [
    "-x509",
    "-days",
    "2",
    "-subj",
    "/CN=client-ca",
    "-keyout",
    file("client-ca.key"),
    "-out",
    file("client-ca.crt"),
  ];
  const request = [
    "-subj",
    "/O=system:masters/CN=admin-by-certificate",
    "-keyout",
    file("admin.key"),
    "-out",
    file("admin.csr"),
  ];
  const signed = ["-CA", file("client-ca.crt"), "-CAkey", file("client-ca.key"), "-CAcreateserial", "-days", "2"];
  try {
    await run("openssl", ["req", ...newKey, ...authority]);
    await run("openssl", ["req", "-new", ...newKey, ...request]);
    await run("openssl", ["x509", "-req", "-in", file("admin.csr"), "-out", file("admin.crt"), ...signed]);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
  return {
    authorityFile: file("client-ca.crt"),
    certificate: await readFile(file("admin.crt"), "utf8"),
    key: await readFile(file("admin.key"), "utf8"),
  };
}
