# SPDX-License-Identifier: Apache-2.0
# Completion for bash.  Commands, options and rules are asked of agentrun itself, ids of containers are
# read from the state directory.

# Where --root says, or where agentrun keeps state by default.
_agentrun_state ()
{
  local i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      --root) echo "${COMP_WORDS[i + 1]}"; return ;;
      --root=*) echo "${COMP_WORDS[i]#--root=}"; return ;;
    esac
  done
  if [ "$(id -u)" -ne 0 ] && [ -n "${XDG_RUNTIME_DIR:-}" ]; then
    echo "$XDG_RUNTIME_DIR/agentrun"
  else
    echo /run/agentrun
  fi
}

_agentrun ()
{
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command='' i words=''
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      --root | --log | --log-format | --log-level | --policy | --cgroup-manager | --rootless) ((i++)) ;;
      -*) ;;
      *) command=${COMP_WORDS[i]}; break ;;
    esac
  done
  case $command:$previous in
    :--log-format | check:--format) words='text json' ;;
    :--log-level) words='error warning info debug' ;;
    :--cgroup-manager) words='cgroupfs' ;;
    :--rootless) words='auto true false' ;;
    :--policy) words='builtin:default builtin:strict builtin:permissive' ;;
    list:--format | list:-f | ps:--format | ps:-f) words='table json' ;;
    policy:explain) words=$(agentrun policy explain 2>/dev/null | cut -d' ' -f1) ;;
    policy:policy) words='show validate explain suggest' ;;
  esac
  if [ -z "$words" ] && [[ $word == -* ]]; then
    words=$(agentrun ${command:+"$command"} --help 2>/dev/null | grep -oE '^ .{4} --[a-z-]+' | grep -oE -- '--.*')
  elif [ -z "$words" ]; then
    case $command in
      '') words=$(agentrun --help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p') ;;
      start | state | kill | delete | exec | events | ps | pause | resume | update | check)
        words=$(ls "$(_agentrun_state)" 2>/dev/null) ;;
    esac
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  if [ "${#COMPREPLY[@]}" -eq 0 ]; then
    compopt -o default 2>/dev/null
  fi
}

complete -F _agentrun agentrun
