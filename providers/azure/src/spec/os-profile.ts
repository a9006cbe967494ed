import { goObject } from "@millwright/core";
import type { AddIssue } from "@millwright/core/driver-kit";
import * as z from "zod";
import { isGiven } from "./storage.ts";

/** Schema of `properties.osProfile`. */
export const osProfileSchema = goObject({
  adminUsername: z
    .string()
    .max(2_048)
    .regex(/\S/, "must not be blank")
    .describe("Name of the first user; not `root` or another name that Azure reserves."),
  linuxConfiguration: goObject({
    disablePasswordAuthentication: z.boolean().describe("Whether only SSH keys let users in.").default(false),
    ssh: goObject({
      publicKeys: goObject({
        path: z.string().max(2_048).describe("File of the key; by default that of the first user.").optional(),
        keyData: z
          .string()
          .max(16_384)
          .describe("Public key in OpenSSH's form. Without one there is no access by SSH.")
          .optional(),
      }).optional(),
    }).optional(),
  })
    .describe("Access by SSH.")
    .prefault({}),
});

/** Names that Azure takes for no user (Azure Compute REST API, "Virtual Machines - Create Or Update", `OSProfile.adminUsername`). */
const reservedNames: ReadonlySet<string> = new Set([
  ..."1 123 a actuser adm admin admin1 admin2 administrator aspnet backup console david guest john owner root".split(
    " ",
  ),
  ..."server sql support support_388945a0 sys test test1 test2 test3 user user1 user2 user3 user4 user5".split(" "),
]);

/** Azure's limit for the name of a user of Linux (in the same place). */
const longestName = 64;

/**
 * Whether a text can be a public key: OpenSSH's line, whose data begin with the length of the name of the algorithm (RFC 4253, section 6.6), or the form of RFC 4716, which is left to Azure.
 */
const isPublicKey = (text: string): boolean =>
  /^(ssh-|ecdsa-|sk-)\S+[ \t]+AAAA\S*([ \t][^\n]*)?$/.test(text.trim()) ||
  text.trim().startsWith("---- BEGIN SSH2 PUBLIC KEY ----");

/** Rules over `properties.osProfile`. The key is not shown: it may be the private one. */
export function checkOsProfile(
  { adminUsername, linuxConfiguration }: z.output<typeof osProfileSchema>,
  addIssue: AddIssue,
): void {
  const at = ["properties", "osProfile"];
  if (reservedNames.has(adminUsername)) {
    addIssue([...at, "adminUsername"], `must be another name: Azure reserves "${adminUsername}"`);
  } else if (adminUsername.length > longestName) {
    addIssue([...at, "adminUsername"], `must have at most ${longestName} characters`);
  }
  const key = linuxConfiguration.ssh?.publicKeys?.keyData;
  if (isGiven(key) && !isPublicKey(key)) {
    addIssue(
      [...at, "linuxConfiguration", "ssh", "publicKeys", "keyData"],
      'must be a public key such as "ssh-ed25519 AAAA… name", as in the file id_ed25519.pub',
    );
  }
}
