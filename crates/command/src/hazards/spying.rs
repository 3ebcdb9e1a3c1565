//! Commands that record the screen, keys, clipboard, microphone or packets, or search for privileged programs.

use super::Floor::Ask;
use super::shape::Shape;

pub(super) const SHAPES: &[Shape] = &[
    // MITRE T1056, T1113, T1115, T1123, T1125: recordings of what the user sees, copies, says and types, including passwords.
    Shape {
        id: "capture-user",
        floor: Ask,
        programs: &[
            "screencapture",
            "xwd",
            "import",
            "scrot",
            "maim",
            "grim",
            "flameshot",
            "gnome-screenshot",
            "spectacle",
            "ksnip",
            "shutter",
            "xclip",
            "xsel",
            "wl-paste",
            "pbpaste",
            "xinput",
            "evtest",
            "showkey",
            "libinput",
            "arecord",
            "parecord",
            "pw-record",
            "rec",
            "sox",
            "ffmpeg",
            "gst-launch-1.0",
            "fswebcam",
            "imagesnap",
            "streamer",
            "recordmydesktop",
            "wf-recorder",
            "obs",
            "script",
            "ttyrec",
            "conspy",
            "screendump",
        ],
        fires: |command| match command.name {
            "import" => command.says(&["-window", "root", "-screen"]),
            "xclip" => command.has("-o --out") || command.says(&["-o", "-out"]),
            "xsel" => command.has("-o --output") || command.words().next().is_none(),
            "xinput" => command.says(&["test", "test-xi2", "--test", "--test-xi2"]),
            "libinput" => command.is_sub(&["debug-events", "record"]),
            // ffmpeg(1): capture devices are input formats.
            "ffmpeg" => command.says(&[
                "x11grab",
                "kmsgrab",
                "fbdev",
                "avfoundation",
                "alsa",
                "pulse",
                "v4l2",
                "gdigrab",
                "dshow",
                "sndio",
            ]),
            "gst-launch-1.0" => command
                .known()
                .any(|word| word.ends_with("src") && !word.contains("file") && !word.contains("test")),
            "sox" => command.says(&["-d", "--default-device"]),
            "script" | "ttyrec" => {
                command.known().any(|word| word.starts_with("/dev/") && word != "/dev/null")
            }
            _ => !command.only_asks_for_help(),
        },
        reason: "records the screen, the keys, the clipboard, the camera or the microphone of the user",
        fix: "ask the user for the text or the picture",
        matches: &[
            "screencapture -x a.png",
            "import -window root a.png",
            "xwd -root -out a",
            "pbpaste > a",
            "xclip -o",
            "xsel -b -o",
            "arecord -d 5 a.wav",
            "ffmpeg -f x11grab -i :0 a.mp4",
            "xinput test 8",
            "scrot",
            "wl-paste",
        ],
        clean: &[
            "ffmpeg -i in.mp4 out.gif",
            "pbcopy < a",
            "xclip -sel clip < a",
            "scrot --version",
            "sox a.wav b.mp3",
            "xinput list",
            "script -c 'make test' log",
            "import os",
            "echo screencapture",
        ],
    },
    // MITRE T1040: unencrypted protocols contain passwords.
    Shape {
        id: "capture-packets",
        floor: Ask,
        programs: &[
            "dumpcap",
            "wireshark",
            "ngrep",
            "tcpflow",
            "snoop",
            "tshark",
            "termshark",
            "netsniff-ng",
            "pktcap",
            "tcpxtract",
            "driftnet",
            "sslsplit",
            "mitmproxy",
            "mitmdump",
        ],
        // tshark(1): with an input file, it captures nothing.
        fires: |command| !command.has("-r --read-file --help --version -h -v -V -D --list-interfaces -G"),
        reason: "records network traffic of other programs and machines",
        fix: "ask an authorized person to do it; to read a capture file, use -r",
        matches: &["tshark -i eth0", "dumpcap -w a.pcap", "ngrep -d any password", "sudo tcpflow -i any"],
        clean: &["tshark -r a.pcap", "tshark --version", "dumpcap -D", "echo ngrep"],
    },
    // MITRE T1548.001, T1083: each set-user-ID program is a candidate for privilege escalation.
    Shape {
        id: "look-for-rights",
        floor: Ask,
        programs: &["find", "gfind", "getcap", "bfs"],
        fires: |command| {
            let is_beyond = command
                .known()
                .take_while(|word| !word.starts_with('-'))
                .any(|word| word.starts_with(['/', '~']));
            let words: Vec<&str> = command.known().collect();
            let mut modes = words
                .iter()
                .zip(words.iter().skip(1))
                .filter(|(test, _)| **test == "-perm")
                .map(|(_, mode)| *mode);
            match command.name {
                "getcap" => command.has("-r") && command.known().any(|word| word.starts_with('/')),
                _ => is_beyond && modes.any(is_special_mode),
            }
        },
        reason: "searches for set-user-ID programs",
        fix: "check a single program: `ls -l FILE`",
        matches: &[
            "find / -perm -4000 -type f",
            "find /usr/bin -perm -2000",
            "find / -perm -u=s",
            "find / -user root -perm /6000",
            "getcap -r /",
            "find / -perm /u=s,g=s -ls",
        ],
        clean: &[
            "find . -perm -4000",
            "find / -perm -755",
            "find /usr -perm -u+x",
            "getcap /usr/bin/ping",
            "find / -name x",
        ],
    },
];

/// Whether a mode of `find -perm` has the set-user-ID or set-group-ID bit.
fn is_special_mode(mode: &str) -> bool {
    let bits = mode.trim_start_matches(['-', '/', '+']);
    if bits.bytes().all(|bit| bit.is_ascii_digit()) {
        return bits.len() > 3 && !bits.starts_with('0') || bits.len() > 4 && !bits.starts_with("00");
    }
    bits.split(',').any(|part| part.split_once(['=', '+']).is_some_and(|(_, rights)| rights.contains('s')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_bits_are_told_from_others() {
        for mode in ["-4000", "/6000", "4755", "-u=s", "/u=s,g=s", "+04000", "g+s"] {
            assert!(is_special_mode(mode), "{mode}");
        }
        for mode in ["755", "-0755", "-u=x", "/222", "00755", ""] {
            assert!(!is_special_mode(mode), "{mode}");
        }
    }
}
