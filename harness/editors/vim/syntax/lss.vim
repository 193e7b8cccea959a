" The words of LSS; the C between <<< and >>> is C.
if exists("b:current_syntax")
  finish
endif

syntax include @lssC syntax/c.vim
unlet! b:current_syntax

syntax keyword lssStatement break continue else for if import in on return through while
syntax keyword lssDeclaration bundle clock collector const debug enum event function inport instance local module outport packed
syntax keyword lssDeclaration parameter stat state struct type userpoint var
syntax keyword lssModifier backward crossing forward gauge keyed optional paced part partial repeated runtime shared specialize
syntax keyword lssModifier contained containedin=lssState counter flight instant memory stamp trace
syntax region lssState transparent start="\(\<state\s*\)\@<={" end="}" contains=TOP
syntax keyword lssDeclaration conserves consumes cut extends identity makes wraps
syntax keyword lssModifier contained containedin=lssWraps,lssExtends default except
syntax region lssWraps transparent start="\<wraps\s" end=";" contains=TOP
syntax region lssExtends transparent start="\<extends\s" end="}" contains=TOP
syntax keyword lssModifier contained containedin=lssConserved altered awaited dropped held made
syntax region lssConserved transparent start="\<conserves\s" end=";" contains=TOP
syntax keyword lssBehaviour always finish handler init next_event phase_end phase_start record reset
syntax keyword lssType bits bool stream string int int8 int16 int32 int64 uint8 uint16 uint32 uint64 float float32 float64
syntax keyword lssBoolean false true
syntax keyword lssTodo contained TODO FIXME XXX
syntax match lssField "\.\s*\h\w*"hs=s+1 contains=NONE
syntax match lssTypeVariable "'\h\w*"
syntax match lssNumber "\<\(0[xX][0-9a-fA-F_]\+\|0[bB][01_]\+\|\d[0-9_]*\(\.\d[0-9_]*\)\?\([eE][+-]\?\d\+\)\?\)\>"
syntax match lssUnit "\(\d\s*\)\@<=\([kMG]\?Hz\|[munpf]\?s\|[kMG]\?B\(\/s\)\?\|[KMGT]iB\|[kMG]\?b\/s\|percent\)\>"
syntax region lssString start=+"+ skip=+\\.+ end=+"\|$+
syntax region lssC matchgroup=lssQuote start="<<<" end=">>>" contains=@lssC,lssInterpolation keepend
syntax region lssInterpolation matchgroup=lssQuote start="\${" end="}" contained
syntax match lssComment "//.*$" contains=lssTodo
syntax region lssComment start="/\*" end="\*/" contains=lssTodo

highlight default link lssStatement Statement
highlight default link lssDeclaration Keyword
highlight default link lssModifier StorageClass
highlight default link lssBehaviour Structure
highlight default link lssType Type
highlight default link lssTypeVariable Type
highlight default link lssBoolean Boolean
highlight default link lssNumber Number
highlight default link lssUnit Number
highlight default link lssString String
highlight default link lssQuote Delimiter
highlight default link lssInterpolation PreProc
highlight default link lssComment Comment
highlight default link lssTodo Todo

let b:current_syntax = "lss"
