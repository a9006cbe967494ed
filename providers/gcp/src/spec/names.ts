/**
 * Whether a text can be the key of a label: 1 to 63 lower-case letters, digits, `_` and `-`, letters of any script, with a letter in front. Source: Compute Engine documentation, "Organize resources
 * using labels", requirements for labels.
 */
export const isLabelKey = (text: string): boolean => /^[^-_0-9]/u.test(text) && isLabelValue(text);

/** Whether a text can be the value of a label: as a key, but it may be empty and begin with any of them. */
export const isLabelValue = (text: string): boolean =>
  /^[-_a-z0-9\P{ASCII}]{0,63}$/u.test(text) && !/\p{Lu}/u.test(text);

/** Whether a text can be a network tag: a name of RFC 1035. Source: Compute Engine API reference, `Instance.tags`. */
export const isNetworkTag = (text: string): boolean => /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/.test(text);

/** Regions and zones become parts of addresses. */
export const placePattern = /^[a-z]+(-[a-z0-9]+)+$/;

/** Whether a zone is in a region: it has the region's name with a suffix. */
export const isZoneOf = (zone: string, region: string): boolean => zone.startsWith(`${region}-`);
