# What clients/probe_script.py does, for vantages with bash alone: dns, tcp, and api and identity as raw bytes. Nothing large:
# bash reads byte by byte.
# Prints the same tab-separated lines. Nothing is written but standard output; bash 4 or newer, with /dev/tcp.
LC_ALL=C
TAG=kafka-audit
MEANT='an address that clients reach, or this one in bootstrap or reach of the cluster file'
shopt -s extglob

now() { # -> NOW, milliseconds
  if [[ -n ${EPOCHREALTIME-} ]]; then
    NOW=${EPOCHREALTIME/[.,]/}
    NOW=${NOW%???}
  else
    NOW=$((SECONDS * 1000))
  fi
}

failure() { # TEXT -> FAILURE, the name of what an error of bash means, with the text of one that has no name
  case $1 in
    *'Name or service not known'* | *'No address associated'* | *'nodename nor servname'*) FAILURE=NAME_UNKNOWN ;;
    *'emporary failure in name resolution'*) FAILURE='NAME_LOOKUP_FAILED temporary failure in name resolution' ;;
    *'Connection refused'*) FAILURE=REFUSED ;;
    *'No route to host'*) FAILURE=NO_ROUTE ;;
    *'Network is unreachable'*) FAILURE=NETWORK_UNREACHABLE ;;
    *'timed out'*) FAILURE=TIMEOUT ;;
    *'reset by peer'*) FAILURE=RESET ;;
    *'roken pipe'*) FAILURE=CLOSED ;;
    *) FAILURE=${1##*: } FAILURE="CONNECTION_FAILED ${FAILURE,,}" ;;
  esac
}

take() { # COUNT -> BYTES, numbers read from the connection; fails at its end
  local at byte code
  BYTES=()
  for ((at = 0; at < $1; at++)); do
    IFS= read -r -d '' -n 1 -u 3 byte || return 1
    code=0
    [[ -z $byte ]] || printf -v code %d "'$byte"
    BYTES[at]=$((code & 255))
  done
}

short() { # OFFSET -> VALUE
  VALUE=$(((BYTES[$1] << 8) | BYTES[$1 + 1]))
  ((VALUE < 32768)) || VALUE=$((VALUE - 65536))
}

long() { # OFFSET -> VALUE, 32 bits without sign
  VALUE=$(((BYTES[$1] << 24) | (BYTES[$1 + 1] << 16) | (BYTES[$1 + 2] << 8) | BYTES[$1 + 3]))
}

exchange() { # REQUEST, as a format of printf -> BYTES, the answer
  # shellcheck disable=SC2059
  printf "$1" >&3 || return 1
  take 4 || return 1
  long 0
  if ((VALUE < 4 || VALUE > 1048576)); then
    echo 'step failed|NOT_KAFKA||'
    exit
  fi
  take "$VALUE"
}

ask_versions() { # -> DETAIL, LOWEST and HIGHEST offered of DescribeConfigs; ends the probe with a line otherwise
  local at count
  exchange "$API_VERSIONS" || return 1
  short 4
  if ((VALUE)); then
    echo "step failed|KAFKA_ERROR error $VALUE||"
    exit
  fi
  long 6
  count=$VALUE LOWEST=9 HIGHEST=-1
  if ((${#BYTES[@]} < 10 + 6 * count)); then
    echo 'step failed|NOT_KAFKA||'
    exit
  fi
  for ((at = 10; at < 10 + 6 * count; at += 6)); do
    short "$at"
    ((VALUE == 32)) || continue
    short $((at + 2))
    LOWEST=$VALUE
    short $((at + 4))
    HIGHEST=$VALUE
  done
  DETAIL="$count APIs"
}

ask_identity() { # -> DETAIL, the id of the broker at the other end
  local at length error text='' octal letter
  if ((HIGHEST > 0)); then exchange "$IDENTITY_1" || return 1; else exchange "$IDENTITY_0" || return 1; fi
  short 12
  error=$VALUE
  if ((error == 31)); then
    echo 'step unknown|NOT_AUTHORIZED||DescribeConfigs on Cluster'
    exit
  fi
  short 14
  length=$VALUE
  for ((at = 16; at < 16 + length && at < ${#BYTES[@]}; at++)); do
    printf -v octal %03o "${BYTES[at]}"
    printf -v letter "\\$octal"
    text+=$letter
  done
  if ((error != 42)) || ! [[ $text =~ expected\ ([0-9]{1,10})\ or\ empty ]]; then
    echo "step unknown|KAFKA_ERROR error $error||"
    exit
  fi
  DETAIL=${BASH_REMATCH[1]}
}

closes_unasked() { # ADDRESS PORT: whether the other side closes a connection on which nothing was sent
  local byte
  exec 3>&- 3<&-
  if exec 3<>"/dev/tcp/$1/$2"; then
    IFS= read -r -d '' -n 1 -t 0.5 -u 3 byte
    (($? == 1)) && return
  fi 2>/dev/null
  return 1
}

resolver() { # HOST -> RESOLVER, what resolves names on this machine
  local address line rest servers=
  RESOLVER=
  [[ ! $1 =~ ^[0-9.]+$ && $1 != *:* ]] || return
  local name=${1,,}
  name=${name%.}
  RESOLVER='by hosts file'
  while read -r address line; do
    line=${line%%#*}
    [[ $address == \#* || " ${line//$'\t'/ } " != *" $name "* ]] || return
  done < <(lower /etc/hosts)
  while read -r line address rest; do
    [[ $line == nameserver && $address =~ ^[0-9a-f.:%]+$ && ${servers//[!,]/} != ,, ]] && servers+=${servers:+,}$address
  done < <(lower /etc/resolv.conf)
  RESOLVER="by ${servers:+nameserver }${servers:-no nameserver}"
}

lower() { # FILE, one of the resolver's, in small letters
  local line
  [[ -r $1 ]] || return
  while read -r line || [[ -n $line ]]; do printf '%s\n' "${line,,}"; done <"$1"
}

addresses() { # HOST -> FOUND, in the order of the attempts, and DETAIL; 1: unknown name, 2: no resolver command
  local address kind rest part
  FOUND=() DETAIL=
  if [[ $1 =~ ^(0|[1-9][0-9]{0,2})(\.(0|[1-9][0-9]{0,2})){3}$ ]]; then
    for part in ${1//./ }; do ((part < 256)) || return 1; done
    FOUND=("$1") DETAIL=$1
    return
  fi
  # The resolver interprets all other notations of an address.
  type -P getent >/dev/null || return 2
  while read -r address kind rest; do
    [[ $kind == STREAM && " ${FOUND[*]} " != *" $address "* ]] && FOUND+=("$address")
  done < <(getent -- ahosts "$1" 2>/dev/null)
  ((${#FOUND[@]})) || return 1
  while read -r address; do DETAIL+=${DETAIL:+,}$address; done < <(printf '%s\n' "${FOUND[@]}" | sort)
  resolver "$1"
  DETAIL+=${RESOLVER:+ }$RESOLVER
}

unresolved() { # HOST that getent does not find: prints whether the name does not exist, or no nameserver answers
  # getent does not print the reason, bash does. Opening /dev/udp resolves a name and sends nothing.
  case $({ : 3<>"/dev/udp/$1/9"; } 2>&1) in
    *'not known'* | *'No address'*) echo NAME_UNKNOWN ;;
    *) echo 'NAME_LOOKUP_FAILED temporary failure in name resolution' ;;
  esac
}

ipv4_kind() { # IPv4 ADDRESS -> KIND of those that are never dialled; fails for any other
  case $1 in
    169.254.*) KIND='link-local address' ;;
    22[4-9].* | 23[0-9].*) KIND='multicast address' ;;
    0.*) KIND='unspecified address' ;;
    255.255.255.255) KIND='broadcast address' ;;
    100.100.100.200 | 168.63.129.16 | 192.0.0.192) KIND='cloud metadata address' ;;
    *) return 1 ;;
  esac
}

numbers() { # IPv6 ADDRESS, as the resolver writes it -> PARTS, its eight numbers of 16 bits
  local address=$1 part head tail
  if [[ $address =~ ^(.*:)([0-9]+)\.([0-9]+)\.([0-9]+)\.([0-9]+)$ ]]; then
    printf -v part '%x:%x' $((BASH_REMATCH[2] << 8 | BASH_REMATCH[3])) $((BASH_REMATCH[4] << 8 | BASH_REMATCH[5]))
    address=${BASH_REMATCH[1]}$part
  fi
  IFS=: read -ra head <<<"${address%%::*}"
  [[ $address == *::* ]] && IFS=: read -ra tail <<<"${address#*::}"
  while ((${#head[@]} + ${#tail[@]} < 8)); do head+=(0); done
  PARTS=()
  for part in "${head[@]}" "${tail[@]}"; do PARTS+=($((16#${part:-0}))); done
}

held() { # -> HELD, the IPv4 addresses that the IPv6 address in PARTS holds, to which a translator or a tunnel would lead
  local p=("${PARTS[@]}") low=$((PARTS[6] << 16 | PARTS[7])) six=$((PARTS[0] | PARTS[1] | PARTS[2] | PARTS[3])) number
  local middle=$((p[4] & 255))
  HELD=()
  ((six == 0 && (p[4] == 0 && p[5] == 65535 || p[4] == 0 && p[5] == 0 && low > 1 || p[4] == 65535 && p[5] == 0))) && HELD+=($low)
  ((p[0] == 0x64 && p[1] == 0xff9b && (p[2] | p[3] | p[4] | p[5]) == 0)) && HELD+=($low)
  ((p[0] == 0x2002)) && HELD+=($((p[1] << 16 | p[2])))
  ((p[0] == 0x2001 && p[1] == 0)) && HELD+=($((p[2] << 16 | p[3])) $((~low & 0xffffffff)))
  (((p[4] == 0 || p[4] == 0x200) && p[5] == 0x5efe)) && HELD+=($low)
  if ((p[0] == 0x64 && p[1] == 0xff9b && p[2] == 1)); then # behind prefixes of 48, 56, 64 and 96 bits, with zeros behind it
    number=$((p[3] << 16 | middle << 8 | p[5] >> 8))
    ((number >> 24 && (p[5] & 255) == 0 && low == 0)) && HELD+=($number)
    number=$(((p[3] & 255) << 24 | middle << 16 | p[5]))
    ((number >> 24 && low == 0)) && HELD+=($number)
    number=$((middle << 24 | p[5] << 8 | p[6] >> 8))
    ((number >> 24 && (low & 0xffffff) == 0)) && HELD+=($number)
    ((low >> 24)) && HELD+=($low)
  fi
  return 0
}

never() { # ADDRESS, as the resolver writes it -> KIND of those that are never dialled; fails for any other
  local address=${1%%%*} number
  case $address in
    *.*.*.*) [[ $address == *:* ]] || { ipv4_kind "$address"; return; } ;;
    fe[89ab][0-9a-f]:*) KIND='link-local address' && return ;;
    ff[0-9a-f][0-9a-f]:*) KIND='multicast address' && return ;;
    ::) KIND='unspecified address' && return ;;
    fd00:ec2:* | fd20:ce::254 | fd00:c1::a9fe:a9fe | fd00:42::42) KIND='cloud metadata address' && return ;;
  esac
  numbers "$address"
  held
  for number in "${HELD[@]}"; do
    ipv4_kind "$((number >> 24)).$((number >> 16 & 255)).$((number >> 8 & 255)).$((number & 255))" && return
  done
  return 1
}

run_layers() { # HOST PORT LAYERS NAMED: prints "layer NAME" before each layer and "step OUTCOME|ERROR|DETAIL|NEEDS" after it
  local address status kind='' open='' places=()
  echo "pid $BASHPID"
  echo 'layer dns'
  addresses "$1"
  status=$?
  if ((status)); then
    resolver "$1"
    if ((status == 2)); then
      echo "step unknown||$RESOLVER|getent or python3"
    else
      echo "step failed|$(unresolved "$1")|$RESOLVER|"
    fi
    exit
  fi
  echo "step ok||$DETAIL|"
  echo 'layer tcp'
  for address in "${FOUND[@]}"; do
    if [[ -z $4 ]] && never "$address"; then
      kind=${kind:-$KIND}
    else
      places+=("$address")
    fi
  done
  if ((! ${#places[@]})); then
    echo "step unknown|NOT_DIALLED not dialled: $kind||$MEANT"
    exit
  fi
  for address in "${places[@]}"; do # the checked addresses, not the name, which may resolve to another address now
    if exec 3<>"/dev/tcp/$address/$2"; then
      open=1
      break
    fi
  done
  if [[ -z $open ]]; then
    echo refused
    exit
  fi
  echo 'step ok|||'
  [[ $3 == *api* ]] || exit
  echo 'layer api'
  ask_versions || { closes_unasked "$address" "$2" && echo "step failed|CLOSED_AT_ONCE||" || echo closed; exit; }
  echo "step ok||$DETAIL|"
  [[ $3 == *identity* ]] && ((LOWEST <= 1 && HIGHEST >= LOWEST)) || exit
  echo 'layer identity'
  ask_identity || { echo closed; exit; }
  echo "step ok||$DETAIL|"
}

print_step() { # INDEX LAYER OUTCOME ERROR DETAIL NEEDS
  now
  printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$TAG" "$1" "$2" "$3" "$4" "$5" "$6" $((NOW - BEGAN))
  BEGAN=$NOW
}

probe() { # INDEX HOST PORT LAYERS [NAMED]: runs in a separate process, so that a hanging connection can be ended
  local line word layer=dns text='' runner='' deadline left open='' part status
  now
  BEGAN=$NOW
  deadline=$((NOW + SECONDS_EACH * 1000))
  exec 4< <(run_layers "$2" "$3" "$4" "${5-}" 2>&1)
  while :; do
    now
    left=$((deadline - NOW))
    ((left > 0)) || left=1
    printf -v part '%d.%03d' $((left / 1000)) $((left % 1000))
    IFS= read -r -t "$part" -u 4 line
    status=$?
    if ((status > 128)); then
      RESOLVER=
      [[ $layer != dns ]] || resolver "$2"
      print_step "$1" "$layer" failed TIMEOUT "$RESOLVER" ''
      [[ -z $runner ]] || kill -9 "$runner" 2>/dev/null
      return
    fi
    ((status == 0)) || break
    word=${line%% *}
    case $word in
      pid) runner=${line#* } ;;
      layer) layer=${line#* } open=1 ;;
      step) IFS='|' read -r outcome error detail needs <<<"${line#* }"; print_step "$1" "$layer" "$outcome" "$error" "$detail" "$needs"; open= ;;
      refused) not_connected "$1" "$layer" "$text" "$2"; open= ;;
      closed) end_of "$1" "$layer" "$text"; open= ;;
      *) text+="$line " ;;
    esac
  done
  [[ -z $open ]] || end_of "$1" "$layer" "$text"
}

not_connected() { # INDEX LAYER TEXT HOST
  failure "$3"
  resolver "$4"
  case $FAILURE in
    NAME_*) print_step "$1" dns failed "$FAILURE" "$RESOLVER" '' ;;
    *'no such file'*) print_step "$1" "$2" unknown 'CANNOT_RUN bash without /dev/tcp' '' python3 ;;
    *)
      [[ $2 != dns ]] || print_step "$1" dns ok '' "$RESOLVER" ''
      print_step "$1" tcp failed "$FAILURE" '' ''
      ;;
  esac
}

end_of() { # INDEX LAYER TEXT
  FAILURE=CLOSED
  [[ $3 != *'reset by peer'* ]] || failure "$3"
  print_step "$1" "$2" failed "$FAILURE" '' ''
}
