// The eighteen documented rules as a JavaScript programmer would write them, fenced code cut out for the one rule that asks
// for it.

export const DOCUMENTED = [
  /\$\([^)]*(?:curl|wget|bash|sh|nc|ncat)\b[^)]*\)/gi,
  /`[^`]*\b(?:curl|wget|bash|sh|nc|ncat)\b\s+[^`]+`/gi,
  /\beval\s*\(\s*["'`]/gi,
  /\|\s*(?:bash|sh|zsh|ksh)\b/gi,
  /\bprintenv\b/gi,
  /\/proc\/self\/environ/gi,
  /\benv\s*\|\s*(?:grep|sort|tee|curl|nc|base64)/gi,
  /\bstratum\+?(?:tcp|ssl)?:\/\//gi,
  /\b(?:xmrig|cgminer|bfgminer|ethminer|nbminer|phoenixminer|t-rex)\b/gi,
  /\b(?:mining|pool|hashrate)\.[a-z]{2,}\.[a-z]{2,}/gi,
  /\bcurl\b[^|;]*\|\s*(?:bash|sh|python|perl|ruby)\b/gi,
  /\bwget\b[^|;]*-O\s*-[^|]*\|/gi,
  /\b(?:bash\s+-i|\/dev\/tcp\/|nc\s+-[elp]|ncat\s+-[elp])\b/gi,
  /[A-Za-z0-9+/]{80,}={0,2}/g,
  /\\x[0-9a-fA-F]{2}[\\x0-9a-fA-F]{76,1996}/g,
  /\bbase64\s+(?:-d|--decode)\s*\|/gi,
  /<\/(?:available_skills|skill_invocation)>/gi,
  /<\/?\s*(?:system|tool_result|function_call)>/gi,
];

const FENCED = /```[\s\S]*?```/g;
const OUTSIDE_FENCES = 1;

/** Counts all matches of all rules. */
export function scan(text) {
  const outside = text.replace(FENCED, "");
  let found = 0;
  DOCUMENTED.forEach((rule, index) => {
    for (const _ of (index === OUTSIDE_FENCES ? outside : text).matchAll(rule)) found++;
  });
  return found;
}
