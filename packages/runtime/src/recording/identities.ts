import type { PlaceholderKind } from "./placeholders.ts";

/** Where clouds write whose account, subscription, tenant or project it is, and who asks. */
const patterns: readonly (readonly [PlaceholderKind, RegExp])[] = [
  ["account", /\barn:aws[\w-]*:[\w-]*:[\w-]*:(\d{12}):/g],
  ["account", /<(?:ownerId|imageOwnerId|requesterId|accountId|Account)>(\d{12})</g],
  ["subscription", /\/subscriptions\/([\w-]+)/gi],
  ["subscription", /"subscriptionId": ?"([\w-]+)"/gi],
  ["tenant", /^https:\/\/[^/]+\/([\w-]+)\/(?:oauth2|v2\.0)\//g],
  ["tenant", /"(?:home)?tenantId": ?"([\w-]+)"/gi],
  ["tenant", /\bsts\.windows\.net\/([\w-]+)/gi],
  ["client", /\bclient_id=([\w-]+)/g],
  ["client", /"(?:client|principal|object)Id": ?"([\w-]+)"/gi],
  ["project", /\bprojects\/([a-z0-9][a-z0-9:.-]*)/g],
  ["service-account", /\b([\w.-]+@[\w.-]+\.gserviceaccount\.com)\b/g],
  ["email", /\b([\w.+-]+@[\w-]+(?:\.[\w-]+)+)\b/g],
];

/** Calls `found` for everything in a text that identifies the owner of an account. */
export function findIdentities(text: string, found: (kind: PlaceholderKind, value: string) => void): void {
  for (const [kind, pattern] of patterns) {
    for (const [, value = ""] of text.matchAll(pattern)) found(kind, value);
  }
}
